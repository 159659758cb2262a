package graft.guests.bundle;

import graft.common.bind.Doc;
import graft.common.values.Name;
import java.util.List;
import java.util.Optional;

/**
 * Everything that a guest needs for one purpose, declared once for all install methods.
 *
 * <pre>{@code
 * name: my-tools
 * description: Tools of our site.
 * packages: [numactl]
 * files:
 *   - {source: lib, path: /opt/tools/lib}
 *   - {path: /etc/ld.so.conf.d/tools.conf, content: "/opt/tools/lib\n"}
 * environment: ["TOOLS_SERVER=${server-name}"]
 * settings:
 *   - {name: server-name, description: The host that they talk to.}
 * check: /opt/tools/bin/check
 * }</pre>
 *
 * <p>Sources, contents, the environment and the check may name {@linkplain Variables variables}.
 */
@Doc("What a guest needs for one purpose.")
public record Bundle(
    @Doc("Its name, which is also its folder's.") Name name,
    @Doc("What it is for, in a sentence.") String description,
    @Doc("Debian packages.") List<PackageName> packages,
    @Doc("Files and folders, such as a configuration file of the loader.") List<BundleFile> files,
    @Doc("NAME=VALUE, for shells, logins and services.") List<String> environment,
    @Doc("Services of systemd, which are enabled and started.") List<ServiceName> services,
    @Doc("Values that the user of the bundle provides.") List<BundleSetting> settings,
    @Doc("A shell command in the guest that checks the bundle.") Optional<String> check) {}
