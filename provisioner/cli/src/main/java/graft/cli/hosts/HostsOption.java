package graft.cli.hosts;

import graft.cli.terminal.Output;
import graft.cli.terminal.Version;
import graft.common.GraftException;
import graft.common.values.Name;
import graft.deployment.SavedPlan;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.descriptor.InvalidDescriptorException;
import graft.deployment.descriptor.LibvirtUri;
import graft.deployment.descriptor.hosts.Host;
import graft.deployment.descriptor.hosts.HostSsh;
import graft.deployment.hosts.AnsibleInventory;
import graft.deployment.hosts.HostBundle;
import graft.deployment.hosts.ManyHosts;
import graft.deployment.state.StateFolder;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Finds out whether a command is meant for many hosts. */
public final class HostsOption {
  @Option(
      names = "--inventory",
      paramLabel = "FILE",
      description =
          "An inventory of Ansible's with the hosts that the descriptor's objects name as 'host'."
              + " ansible-inventory reads it.")
  Path inventory;

  @Option(
      names = {"-c", "--connect"},
      paramLabel = "URI",
      description =
          "The host of a descriptor without 'hosts', as libvirt's URI with ssh:"
              + " qemu+ssh://root@node1/system. Graft runs there. Once it is applied, the"
              + " deployment stays on that host also without this option.")
  String connect;

  @Spec(Spec.Target.MIXEE)
  CommandSpec spec;

  /** A command for many hosts. */
  public interface Work {
    int with(HostsReport report) throws Exception;
  }

  private record Meant(Name deployment, Optional<DescriptorFile> file) {}

  /**
   * Does the work if the descriptor, or the deployment of that name, has many hosts.
   *
   * @param given what the user wrote; null for nothing
   * @return the exit code; empty if the command is for this host
   */
  public Optional<Integer> run(String given, Output output, Work work) throws Exception {
    Optional<Meant> meant = given == null ? Optional.empty() : meant(given);
    if (meant.isEmpty()) {
      if (connect != null && given == null) {
        throw new GraftException(
            "--connect is for one deployment, and none is named", "name its descriptor");
      }
      if (inventory != null) {
        throw new GraftException(
            "--inventory is for a descriptor whose objects name hosts",
            "write host: NAME into each GPU, adapter, network and guest");
      }
      return Optional.empty();
    }
    PrintWriter err = output.err();
    try (HostBundle bundle =
        new HostBundle(Path.of(System.getProperty("graft.home", "")), Version.text())) {
      ManyHosts hosts =
          ManyHosts.bySsh(
              meant.get().deployment,
              meant.get().file,
              bundle,
              Version.line(),
              (host, line) -> say(err, host, line));
      return Optional.of(work.with(new HostsReport(output, hosts)));
    }
  }

  private static void say(PrintWriter err, Name host, String line) {
    synchronized (err) {
      err.println(host + ": " + line);
      err.flush();
    }
  }

  private Optional<Meant> meant(String given) throws InvalidDescriptorException {
    Path path = Path.of(given);
    if (connect != null) {
      return connected(path);
    }
    if (inventory != null) {
      Function<Set<Name>, List<Host>> hosts = names -> AnsibleInventory.read(inventory, names);
      return of(DescriptorReader.read(path, hosts));
    }
    if (Files.exists(path)) {
      return SavedPlan.isOne(path) ? Optional.empty() : of(again(DescriptorReader.read(path)));
    }
    try {
      Name name = Name.parse(given);
      return ManyHosts.isKnown(name) && !StateFolder.of(name).exists()
          ? Optional.of(new Meant(name, applied(name)))
          : Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.empty(); // neither a file nor a name, as the command says
    }
  }

  /** What a descriptor has on the host of --connect. */
  private Optional<Meant> connected(Path path) throws InvalidDescriptorException {
    if (inventory != null) {
      throw new ParameterException(
          spec.commandLine(), "--connect names the host, and --inventory others: leave one out");
    }
    LibvirtUri uri = parsed(LibvirtUri::parse);
    if (uri.isLocal()) {
      DescriptorFile file = DescriptorReader.read(path);
      if (!file.descriptor().hosts().isEmpty() || !file.descriptor().libvirt().equals(uri)) {
        throw new GraftException(
            uri + " is on this machine, and the descriptor does not choose it",
            "leave --connect out, and write libvirt: " + uri + " into the descriptor");
      }
      return Optional.empty();
    }
    Host host = Host.only(parsed(HostSsh::parse).resolved(HostsOption::absolute));
    Optional<Meant> meant = of(DescriptorReader.read(path, names -> List.of(host)));
    ManyHosts.refuseBeside(meant.orElseThrow().deployment, host);
    return meant;
  }

  private <T> T parsed(Function<String, T> parser) {
    try {
      return parser.apply(connect);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--connect: " + e.getMessage(), e);
    }
  }

  /** A file of the command line is not looked for beside the descriptor. */
  private static String absolute(String file) {
    return file.startsWith("~/") ? file : Path.of(file).toAbsolutePath().normalize().toString();
  }

  /** A descriptor that was applied on the host of --connect stays there. */
  private static DescriptorFile again(DescriptorFile file) throws InvalidDescriptorException {
    Name name = file.descriptor().deploymentName();
    if (!file.descriptor().hosts().isEmpty() || StateFolder.of(name).exists()) {
      return file;
    }
    Optional<Host> host = ManyHosts.only(name);
    return host.isEmpty()
        ? file
        : DescriptorReader.read(file.path(), names -> host.stream().toList());
  }

  /** The descriptor that was applied, if it is still there and needs no inventory. */
  private static Optional<DescriptorFile> applied(Name name) {
    return ManyHosts.applied(name)
        .flatMap(
            path -> {
              try {
                return Optional.of(again(DescriptorReader.read(path)))
                    .filter(file -> !file.descriptor().hosts().isEmpty());
              } catch (InvalidDescriptorException e) {
                return Optional.empty();
              }
            });
  }

  private static Optional<Meant> of(DescriptorFile file) {
    return Optional.of(file)
        .filter(read -> !read.descriptor().hosts().isEmpty())
        .map(read -> new Meant(read.descriptor().deploymentName(), Optional.of(read)));
  }
}
