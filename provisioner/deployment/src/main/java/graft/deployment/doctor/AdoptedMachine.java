package graft.deployment.doctor;

import graft.common.GraftException;
import graft.common.json.Json;
import graft.common.values.MemorySize;
import graft.common.values.Name;
import graft.deployment.descriptor.LibvirtUri;
import graft.deployment.descriptor.gpu.GpuDevice;
import graft.deployment.descriptor.guest.DomainName;
import graft.deployment.descriptor.guest.Existing;
import graft.deployment.observe.Connections;
import graft.guests.connection.AgentConnection;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.HostAddress;
import graft.guests.connection.SshConnection;
import graft.guests.machine.Machine;
import graft.guests.machine.MachineReport;
import graft.guests.payload.Payload;
import graft.hypervisors.libvirt.ObservedGuest;
import graft.hypervisors.libvirt.existing.ExistingDomain;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The descriptor of a machine that exists already, from what the machine says of itself.
 *
 * @param report what it says; empty for a domain that does not run or has no guest agent
 * @param gpu the device that this host serves
 * @param libvirt the connection to libvirt, for a domain that is not of the usual one
 * @param seen what libvirt says of a domain, a line each
 */
public record AdoptedMachine(
    Existing existing,
    Optional<MachineReport> report,
    GpuDevice gpu,
    Optional<LibvirtUri> libvirt,
    List<String> seen) {
  private static final long KIB = 1024;
  private static final Name USUAL = new Name("machine");
  private static final List<String> PATHS =
      List.of(Payload.CLIENT_FOLDER + "/libcuda.so.1", Payload.TOKEN);
  private static final Duration AGENT = Duration.ofSeconds(5);
  private static final String USUAL_LIBVIRT = "qemu:///system";

  /**
   * Looks at the machine, and changes nothing there.
   *
   * @throws graft.guests.connection.GuestConnectionException if it cannot be reached
   */
  public static AdoptedMachine look(Existing existing, GpuDevice gpu) {
    GuestConnection connection = SshConnection.toKnown(existing.login(Path::of));
    MachineReport report = new Machine(connection, existing.machine()).probe(PATHS);
    return new AdoptedMachine(existing, Optional.of(report), gpu, Optional.empty(), List.of());
  }

  /**
   * Looks at a domain of libvirt and, by its guest agent, at the system in it.
   *
   * @param uri the connection to libvirt; if empty, that of the system's daemon
   * @throws GraftException if there is no such domain, or Graft made it
   * @throws graft.hypervisors.libvirt.calls.HypervisorException if libvirt does not answer
   */
  public static AdoptedMachine lookAt(Existing existing, Optional<LibvirtUri> uri, GpuDevice gpu) {
    String name = existing.domain().orElseThrow().text();
    String libvirt = uri.map(LibvirtUri::text).orElse(USUAL_LIBVIRT);
    try (Connections connections = new Connections()) {
      ObservedGuest found =
          connections
              .get(libvirt)
              .guest(name)
              .orElseThrow(
                  () ->
                      new GraftException(
                          "libvirt at " + libvirt + " has no domain '" + name + "'",
                          "virsh list --all shows those that there are"))
              .observed();
      if (found.metadata().isPresent()) {
        throw new GraftException(
            "the domain '" + name + "' was made by Graft",
            "graft list shows its deployment, whose descriptor has it");
      }
      ExistingDomain domain = ExistingDomain.of(found);
      AgentConnection agent = new AgentConnection(found.guest());
      boolean answers =
          found.state().isActive() && domain.hasAgentChannel() && agent.answers(AGENT);
      Optional<MachineReport> report =
          answers
              ? Optional.of(new Machine(agent, existing.machine()).probe(PATHS))
              : Optional.empty();
      return new AdoptedMachine(existing, report, gpu, uri, seen(found, domain, answers));
    }
  }

  private static List<String> seen(ObservedGuest found, ExistingDomain domain, boolean answers) {
    List<String> seen = new ArrayList<>();
    seen.add("domain " + found.name() + ": " + found.state().words());
    seen.add(domain.freeSlots().size() + " free PCI slots that take a device while it runs");
    if (!found.state().isActive()) {
      seen.add("start it before graft apply, which brings the client while it runs");
    } else if (!answers) {
      seen.add(
          (domain.hasAgentChannel()
                  ? "its guest agent does not answer"
                  : "it has no channel to a guest agent")
              + ": write setup: {ssh: {address: ADDRESS}}, or install qemu-guest-agent in it");
    }
    return seen;
  }

  /**
   * The guest's name: the machine's host name if that can be one, without its domain, or that of
   * the libvirt domain.
   */
  public Name name() {
    String called =
        existing
            .domain()
            .map(DomainName::text)
            .orElseGet(() -> report.map(MachineReport::name).orElse(""));
    String label =
        called.toLowerCase(Locale.ROOT).replaceFirst("\\..*", "").replaceAll("[ _]+", "-");
    try {
      return Name.parse(label);
    } catch (IllegalArgumentException e) {
      return USUAL;
    }
  }

  /** The descriptor as YAML. */
  public String text() {
    StringBuilder text = new StringBuilder();
    lines().forEach(line -> text.append("# ").append(line).append('\n'));
    text.append("graft: 1\n");
    libvirt.ifPresent(uri -> text.append("libvirt: ").append(quoted(uri.text())).append('\n'));
    text.append("\ngpus:\n  - name: gpu0\n    device: ").append(quoted(gpu.toString()));
    text.append("\n\nguests:\n  - name: ").append(quoted(name().text()));
    text.append("\n    existing:\n      ");
    existing.ssh().ifPresent(ssh -> text.append("ssh: ").append(quoted(ssh.toString())));
    existing.domain().ifPresent(name -> text.append("domain: ").append(quoted(name.text())));
    if (existing.port() != 22) {
      text.append("\n      port: ").append(existing.port());
    }
    existing.key().ifPresent(key -> text.append("\n      key: ").append(quoted(key)));
    existing
        .knownHosts()
        .ifPresent(file -> text.append("\n      known-hosts: ").append(quoted(file)));
    existing
        .server()
        .map(HostAddress::text)
        .ifPresent(server -> text.append("\n      server: ").append(quoted(server)));
    return text.append("\n    vgpu: gpu0\n").toString();
  }

  private List<String> lines() {
    List<String> lines = new ArrayList<>(seen);
    report.ifPresent(
        says -> {
          String libc = says.libc().equals("none") ? "without a known C library" : says.libc();
          lines.add(existing.machine() + ": " + says.system() + ", " + says.cpu() + ", " + libc);
          Optional<Long> free = says.free().values().stream().min(Long::compare);
          free.ifPresent(
              kib -> lines.add(new MemorySize(kib * KIB).rounded() + " free for the client"));
          says.owner().ifPresent(owner -> lines.add("it has the client of guest " + owner));
          if (says.owner().isEmpty() && !says.there().isEmpty()) {
            lines.add(
                "it has files that are kept and given back: " + String.join(", ", says.there()));
          }
        });
    lines.add("graft plan says what apply would bring, and whether the machine is fit");
    return lines;
  }

  /** Always quoted: JSON's strings are YAML's, and no name is taken for a number or a truth. */
  private static String quoted(String text) {
    return Json.line(text);
  }
}
