package graft.deployment.hosts;

import graft.common.values.Name;
import graft.common.values.UserName;
import graft.deployment.descriptor.HostPart;
import graft.deployment.descriptor.hosts.Host;
import graft.deployment.descriptor.hosts.HostFolder;
import graft.deployment.descriptor.hosts.HostSsh;
import graft.guests.connection.HostAddress;
import graft.guests.connection.SshLogin;
import graft.hypervisors.libvirt.calls.LibvirtUri;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * A host on which a deployment may have something.
 *
 * @param after the hosts whose GPUs its guests use
 * @param libvirt on the host, if libvirt's URI names the host
 */
record KnownHost(
    Name name, SshLogin login, HostFolder folder, Set<Name> after, Optional<LibvirtUri> libvirt) {
  KnownHost {
    after = Set.copyOf(after);
  }

  static KnownHost of(HostPart part, Function<String, Path> resolve) {
    return new KnownHost(
        part.name(),
        part.host().login(resolve),
        part.host().folder(),
        part.after(),
        part.host().ssh().libvirt());
  }

  /** The host as a descriptor has it. */
  Host host() {
    HostAddress address = login.address().orElseThrow();
    HostSsh ssh =
        new HostSsh(
            Optional.of(login.user()),
            address,
            Optional.of(login.port()),
            login.key().map(Path::toString),
            Optional.of(login.knownHosts().toString()),
            libvirt);
    return Host.only(ssh).with(name, folder);
  }

  /** Where its SSH server is: {@code 192.0.2.7 port 22}. */
  String address() {
    return login.address().orElseThrow().text() + " port " + login.port();
  }

  KnownHost withLogin(SshLogin other) {
    return new KnownHost(name, other, folder, after, libvirt);
  }

  Map<String, Object> toTree() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("name", name.text());
    tree.put("user", login.user().text());
    tree.put("address", login.address().orElseThrow().text());
    tree.put("port", login.port());
    login.key().ifPresent(key -> tree.put("key", key.toString()));
    tree.put("knownHosts", login.knownHosts().toString());
    tree.put("folder", folder.text());
    libvirt.ifPresent(uri -> tree.put("libvirt", uri.toString()));
    tree.put("after", after.stream().map(Name::text).sorted().toList());
    return tree;
  }

  /**
   * Reads what {@link #toTree} wrote.
   *
   * @throws ClassCastException or another exception if it is something else
   */
  static KnownHost parse(Map<?, ?> tree) {
    Set<Name> after = new HashSet<>();
    ((List<?>) tree.get("after")).forEach(name -> after.add(Name.parse((String) name)));
    return new KnownHost(
        Name.parse((String) tree.get("name")),
        new SshLogin(
            UserName.parse((String) tree.get("user")),
            Optional.of(HostAddress.parse((String) tree.get("address"))),
            Math.toIntExact((Long) tree.get("port")),
            Optional.ofNullable((String) tree.get("key")).map(Path::of),
            Path.of((String) tree.get("knownHosts"))),
        HostFolder.parse((String) tree.get("folder")),
        after,
        Optional.ofNullable((String) tree.get("libvirt")).map(LibvirtUri::parse));
  }
}
