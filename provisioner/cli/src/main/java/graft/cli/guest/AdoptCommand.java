package graft.cli.guest;

import graft.cli.printed.GuestForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.common.GraftException;
import graft.deployment.descriptor.LibvirtUri;
import graft.deployment.descriptor.gpu.GpuDevice;
import graft.deployment.descriptor.guest.DomainName;
import graft.deployment.descriptor.guest.Existing;
import graft.deployment.descriptor.guest.SshTarget;
import graft.deployment.doctor.AdoptedMachine;
import graft.guests.connection.HostAddress;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code graft adopt}: writes the descriptor of a machine that exists already. */
@Prints(GuestForms.Adopted.class)
@Command(
    name = "adopt",
    mixinStandardHelpOptions = true,
    header = "Writes the descriptor of a machine that exists already.",
    description = {
      "",
      "Looks at a Linux machine by SSH, changes nothing there, and prints a descriptor with the"
          + " machine as a guest: a virtual machine of ESXi, VirtualBox, Proxmox or a cloud, or"
          + " bare metal. The machine's host key has to be known before, as for ssh itself. The"
          + " guest's entry can also be copied into another descriptor.",
      "",
      "With --domain it looks at a domain of this host's libvirt that somebody else made, and by"
          + " its guest agent at the system in it.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft adopt root@192.0.2.7",
      "  graft adopt admin@box.example --key ~/.ssh/box lab.yaml    to a new file",
      "  graft adopt --domain web lab.yaml"
    })
public final class AdoptCommand implements Callable<Integer> {
  private static final int SSH_PORT = 22;

  @Mixin Output output;
  @Spec CommandSpec spec;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "USER@HOST",
      description = "The machine; not with --domain.")
  String machine;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "FILE",
      description = "The file to write, which must not exist (default: standard output).")
  Path file;

  @Option(names = "--domain", paramLabel = "NAME", description = "A domain of libvirt.")
  String domain;

  @Option(
      names = "--libvirt",
      paramLabel = "URI",
      description = "The libvirt of --domain (default: qemu:///system).")
  String libvirt;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "22",
      description = "The port of its SSH server (default: ${DEFAULT-VALUE}).")
  int port;

  @Option(names = "--key", paramLabel = "FILE", description = "The file of the private key.")
  Path key;

  @Option(
      names = "--known-hosts",
      paramLabel = "FILE",
      description = "The file with the machine's host key (default: ~/.ssh/known_hosts).")
  Path knownHosts;

  @Option(
      names = "--server",
      paramLabel = "ADDRESS",
      description = "This host's address as the machine reaches it, where a NAT is between them.")
  String server;

  @Option(
      names = "--gpu",
      paramLabel = "DEVICE",
      defaultValue = "software",
      description = "What this host serves: software, gpu or gpu:N (default: ${DEFAULT-VALUE}).")
  String gpu;

  @Override
  public Integer call() {
    if (port < 1 || port > 65535) {
      throw new ParameterException(spec.commandLine(), "--port: not a port: " + port);
    }
    if (domain != null) {
      oneFile();
    } else if (machine == null || libvirt != null) {
      throw new ParameterException(
          spec.commandLine(),
          machine == null
              ? "name the machine: USER@HOST, or --domain NAME"
              : "--libvirt: only with --domain");
    }
    Existing existing =
        new Existing(
            Optional.ofNullable(machine).map(m -> parsed("USER@HOST", m, SshTarget::parse)),
            Optional.ofNullable(domain).map(d -> parsed("--domain", d, DomainName::parse)),
            port,
            Optional.ofNullable(key).map(AdoptCommand::absolute),
            Optional.ofNullable(knownHosts).map(AdoptCommand::absolute),
            Optional.ofNullable(server).map(s -> parsed("--server", s, HostAddress::parse)));
    GpuDevice device = parsed("--gpu", gpu, GpuDevice::parse);
    Optional<LibvirtUri> uri =
        Optional.ofNullable(libvirt).map(u -> parsed("--libvirt", u, LibvirtUri::parse));
    AdoptedMachine adopted =
        domain == null
            ? AdoptedMachine.look(existing, device)
            : AdoptedMachine.lookAt(existing, uri, device);
    String text = adopted.text();
    if (file == null) {
      output.say(text.stripTrailing());
    } else {
      write(text);
      output.say("wrote " + file + "\n  next: graft plan " + file);
    }
    output.result(
        Map.of("guest", adopted.name().text(), "machine", existing.machine(), "text", text));
    return ExitCode.OK;
  }

  /** A domain is named by its option, so that the first operand is the file. */
  private void oneFile() {
    boolean ofSsh = key != null || knownHosts != null || port != SSH_PORT;
    if (file != null || ofSsh) {
      throw new ParameterException(
          spec.commandLine(),
          "--domain: takes no USER@HOST, --port, --key and --known-hosts; its login is written as"
              + " setup: {ssh: ...}");
    }
    file = machine == null ? null : Path.of(machine);
    machine = null;
  }

  private <T> T parsed(String what, String text, Function<String, T> parser) {
    try {
      return parser.apply(text);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), what + ": " + e.getMessage(), e);
    }
  }

  /** A file is named from everywhere alike, wherever the descriptor lies. */
  private static String absolute(Path named) {
    return named.toAbsolutePath().normalize().toString();
  }

  /** Never replaces a file. */
  private void write(String text) {
    try {
      Files.write(file, text.getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE_NEW);
    } catch (FileAlreadyExistsException e) {
      throw new GraftException(
          "there is a file " + file + " already",
          "name another, or copy the guest's entry into it",
          e);
    } catch (IOException e) {
      throw new GraftException("cannot write " + file + ": " + e, "", e);
    }
  }
}
