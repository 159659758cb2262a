package graft.deployment.doctor;

import graft.common.json.Json;
import graft.common.values.MemorySize;
import graft.common.values.Name;
import graft.deployment.descriptor.gpu.GpuDevice;
import graft.deployment.descriptor.guest.Existing;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.HostAddress;
import graft.guests.connection.SshConnection;
import graft.guests.machine.Machine;
import graft.guests.machine.MachineReport;
import graft.guests.payload.Payload;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The descriptor of a machine that exists already, from what the machine says of itself.
 *
 * @param gpu the device that this host serves
 */
public record AdoptedMachine(Existing existing, MachineReport report, GpuDevice gpu) {
  private static final long KIB = 1024;
  private static final Name USUAL = new Name("machine");

  /**
   * Looks at the machine, and changes nothing there.
   *
   * @throws graft.guests.connection.GuestConnectionException if it cannot be reached
   */
  public static AdoptedMachine look(Existing existing, GpuDevice gpu) {
    GuestConnection connection = SshConnection.toKnown(existing.login(Path::of));
    Machine machine = new Machine(connection, existing.ssh().toString());
    return new AdoptedMachine(
        existing,
        machine.probe(List.of(Payload.CLIENT_FOLDER + "/libcuda.so.1", Payload.TOKEN)),
        gpu);
  }

  /** The guest's name: the machine's host name if that can be one, without its domain. */
  public Name name() {
    String label = report.name().toLowerCase(Locale.ROOT).replaceFirst("\\..*", "");
    try {
      return Name.parse(label);
    } catch (IllegalArgumentException e) {
      return USUAL;
    }
  }

  /** The descriptor as YAML. */
  public String text() {
    StringBuilder text = new StringBuilder();
    seen().forEach(line -> text.append("# ").append(line).append('\n'));
    text.append("graft: 1\n\ngpus:\n  - name: gpu0\n    device: ").append(quoted(gpu.toString()));
    text.append("\n\nguests:\n  - name: ").append(quoted(name().text()));
    text.append("\n    existing:\n      ssh: ").append(quoted(existing.ssh().toString()));
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

  private List<String> seen() {
    List<String> seen = new ArrayList<>();
    String libc = report.libc().equals("none") ? "without a known C library" : report.libc();
    seen.add(existing.ssh() + ": " + report.system() + ", " + report.cpu() + ", " + libc);
    Optional<Long> free = report.free().values().stream().min(Long::compare);
    free.ifPresent(kib -> seen.add(new MemorySize(kib * KIB).rounded() + " free for the client"));
    report.owner().ifPresent(owner -> seen.add("it has the client of guest " + owner));
    if (report.owner().isEmpty() && !report.there().isEmpty()) {
      seen.add("it has files that are kept and given back: " + String.join(", ", report.there()));
    }
    seen.add("graft plan says what apply would bring, and whether the machine is fit");
    return seen;
  }

  /** Always quoted: JSON's strings are YAML's, and no name is taken for a number or a truth. */
  private static String quoted(String text) {
    return Json.line(text);
  }
}
