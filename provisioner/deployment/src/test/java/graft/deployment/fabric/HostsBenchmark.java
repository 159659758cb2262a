package graft.deployment.fabric;

import graft.common.bind.RecordWriter;
import graft.common.json.Json;
import graft.common.values.Name;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.descriptor.HostPart;
import graft.deployment.descriptor.HostSplit;
import graft.deployment.descriptor.Node;
import graft.deployment.observe.DeviceFacts;
import graft.deployment.plan.Plan;
import graft.sriov.fake.FakeDevice;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Measures a deployment over many hosts, with 8 GPUs, 8 adapters and 10 guests on each: reading,
 * checking and splitting the descriptor as the operator's machine does it, and the plans of all
 * hosts, one after another in this process, each made against the same modelled host.
 *
 * <pre>
 *   HostsBenchmark FOLDER HOSTS
 * </pre>
 */
public final class HostsBenchmark {
  private static final int DEVICES = 8;
  private static final int GUESTS = 10;
  private static final int FUNCTIONS = 2;

  private HostsBenchmark() {}

  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[0]);
    int hosts = Integer.parseInt(args[1]);
    String text = descriptor(hosts);
    figure("descriptor", "MB", text.length() / 1e6);
    long start = System.nanoTime();
    DescriptorFile file = DescriptorReader.read(Path.of("/d/lab.yaml"), text);
    figure("read and check", "s", (System.nanoTime() - start) / 1e9);
    figure("read and check: CPU, and Java's start", "s", cpu() / 1e3);
    long before = System.nanoTime();
    List<HostPart> parts = HostSplit.split(file.descriptor(), file.positions(), new Tokens());
    long bytes = 0;
    for (HostPart part : parts) {
      bytes += Json.line(RecordWriter.tree(part.descriptor())).length();
    }
    figure("split and write", "s", (System.nanoTime() - before) / 1e9);
    figure("written", "MB", bytes / 1e6);
    DeviceHost host = host(folder);
    Optional<DeviceFacts> seen = Optional.of(host.look(new Name("lab")));
    before = System.nanoTime();
    long cpuBefore = cpu();
    long steps = 0;
    for (HostPart part : parts) {
      Plan plan =
          host.plan(new DescriptorFile(part.descriptor(), Path.of("/d/x"), file.positions()), seen);
      steps += plan.actions().size();
    }
    figure("plans of all hosts", "s", (System.nanoTime() - before) / 1e9);
    figure("plans of all hosts: CPU", "s", (cpu() - cpuBefore) / 1e3);
    figure("steps", "", (double) steps);
    figure("all", "s", (System.nanoTime() - start) / 1e9);
    figure("CPU, with the start of Java", "s", cpu() / 1e3);
    figure("most memory", "MB", peak() / 1e3);
  }

  private static final class Tokens implements HostSplit.TokenFiles {
    @Override
    public String of(Name guest, Name gpu) {
      return guest + "." + gpu + ".token";
    }

    @Override
    public String of(Node node) {
      return node.name() + ".token";
    }
  }

  private static DeviceHost host(Path folder) throws Exception {
    Files.createDirectories(folder);
    DeviceHost host = new DeviceHost(folder);
    host.fake.node(0, "0-63", 1 << 20);
    for (int i = 0; i < DEVICES; i++) {
      String pf = "0000:%02x:00.0".formatted(0x20 + 2 * i);
      host.fake.add(FakeDevice.mlx5(pf, FUNCTIONS).numa(0));
      host.fake.write(
          "/sys/bus/pci/devices/" + pf + "/sriov_drivers_autoprobe", "0", Duration.ofDays(1));
      host.fake.write(
          "/sys/bus/pci/devices/" + pf + "/sriov_numvfs", "" + FUNCTIONS, Duration.ofDays(1));
      host.fake.add(FakeDevice.gpu("0000:%02x:00.0".formatted(0x60 + i)).numa(0));
    }
    return host;
  }

  private static String descriptor(int hosts) {
    StringBuilder text = new StringBuilder("graft: 1\nname: lab\nhosts:\n");
    for (int h = 0; h < hosts; h++) {
      text.append("- {name: h%d, ssh: root@h%d.example}\n".formatted(h, h));
    }
    text.append("gpus:\n");
    for (int h = 0; h < hosts; h++) {
      for (int i = 0; i < DEVICES; i++) {
        text.append(
            "- {name: h%d-gpu%d, host: h%d, device: \"0000:%02x:00.0\", owner: \"guest:h%d-g%d\"}\n"
                .formatted(h, i, h, 0x60 + i, h, i));
      }
    }
    text.append("fabric:\n  persistent: false\n  adapters:\n");
    for (int h = 0; h < hosts; h++) {
      for (int i = 0; i < DEVICES; i++) {
        text.append(
            "  - {name: ib%d, host: h%d, device: \"0000:%02x:00.0\", vfs: %d}\n"
                .formatted(i, h, 0x20 + 2 * i, FUNCTIONS));
      }
    }
    text.append("guests:\n");
    for (int h = 0; h < hosts; h++) {
      for (int i = 0; i < GUESTS; i++) {
        text.append(
            "- {name: h%d-g%d, host: h%d, image: /d/debian.qcow2, memory: 1GiB, setup: none,"
                    .formatted(h, i, h)
                + " vfs: [{adapter: ib%d}]}\n".formatted(i % DEVICES));
      }
    }
    return text.toString();
  }

  private static void figure(String name, String unit, double value) {
    System.out.printf(Locale.ROOT, "%-36s %10.2f %s%n", name, value, unit);
  }

  private static long cpu() {
    return ProcessHandle.current().info().totalCpuDuration().orElseThrow().toMillis();
  }

  /** The most memory that this process had, in KiB (proc(5), VmHWM). */
  private static long peak() throws Exception {
    return Files.readAllLines(Path.of("/proc/self/status")).stream()
        .filter(line -> line.startsWith("VmHWM"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
        .findFirst()
        .orElseThrow();
  }
}
