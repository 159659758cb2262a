package graft.deployment.fabric;

import graft.common.values.Name;
import graft.deployment.apply.Steps;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.journal.Journal;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Connections;
import graft.deployment.observe.ContainerFacts;
import graft.deployment.observe.Observer;
import graft.deployment.observe.ServiceFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.plan.Plan;
import graft.deployment.plan.PlanInput;
import graft.deployment.plan.Planner;
import graft.deployment.state.Layout;
import graft.deployment.state.StateFolder;
import graft.hypervisors.kvm.KvmHypervisor;
import graft.sriov.VfSettings;
import graft.sriov.fake.FakeDevice;
import graft.sriov.fake.ForwardingFiles;
import graft.sriov.files.RootFolder;
import graft.sriov.files.Sysfs;
import graft.sriov.host.NetInterface;
import graft.sriov.netlink.VfLinks;
import graft.sriov.vf.HostAccess;
import graft.sriov.vf.TimeLimits;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Measures observation, planning and applying on a big host: 8 adapters of 126 functions, 8 GPUs,
 * 200 guests, 2 NUMA nodes.
 *
 * <pre>
 *   DeviceBenchmark make FOLDER       the host as a folder, all functions made
 *   DeviceBenchmark domains FOLDER    200 other guests of that host, a libvirt domain each in a file
 *   DeviceBenchmark plan FOLDER [URI] reads it and plans, in this process, once; with all guests of a libvirt
 *   DeviceBenchmark validate COUNT GUESTS   that many descriptors, with that many guests
 *   DeviceBenchmark apply FOLDER      on a host that takes its time, from no functions to all
 * </pre>
 */
public final class DeviceBenchmark {
  private static final int ADAPTERS = 8;
  private static final int FUNCTIONS = 126;
  private static final int GPUS = 8;
  private static final int GUESTS = 200;

  private DeviceBenchmark() {}

  public static void main(String[] args) throws Exception {
    switch (args[0]) {
      case "make" -> make(Path.of(args[1]), FUNCTIONS);
      case "domains" -> domains(Path.of(args[1]));
      case "plan" -> plan(Path.of(args[1]), args.length > 2 ? args[2] : "");
      case "validate" -> validate(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
      case "apply" -> apply(Path.of(args[1]));
      default -> throw new IllegalArgumentException(args[0]);
    }
  }

  private static DeviceHost make(Path folder, int functions) throws Exception {
    DeviceHost host = new DeviceHost(folder, Slow::of);
    host.fake.node(0, "0-63", 1 << 20).node(1, "64-127", 1 << 20);
    for (int i = 0; i < ADAPTERS; i++) {
      String pf = adapter(i);
      host.fake.add(FakeDevice.mlx5(pf, FUNCTIONS).numa(i / 4));
      host.fake.write(
          "/sys/bus/pci/devices/" + pf + "/sriov_drivers_autoprobe", "0", Duration.ofDays(1));
      if (functions > 0) {
        host.fake.write(
            "/sys/bus/pci/devices/" + pf + "/sriov_numvfs", "" + functions, Duration.ofDays(1));
      }
    }
    for (int i = 0; i < GPUS; i++) {
      host.fake.add(FakeDevice.gpu(gpu(i)).numa(i / 4));
    }
    for (int i = 0; i < GUESTS; i++) {
      String[] open = new String[60];
      java.util.Arrays.fill(open, "anon_inode:kvm-vcpu");
      host.fake.process(1000 + i, "qemu-system-x86", open);
    }
    return host;
  }

  private static void plan(Path folder, String uri) throws Exception {
    String text = descriptor("lab", GUESTS);
    Counting files = new Counting(new RootFolder(folder.resolve("host")));
    HostAccess access = new HostAccess(files, NO_LINKS, TimeLimits.DEFAULT);
    long start;
    Plan plan;
    if (uri.isEmpty()) {
      DescriptorFile file = DescriptorReader.read(Path.of("/d/lab.yaml"), text);
      start = System.nanoTime();
      plan = new DeviceHost(folder, access).plan(file);
    } else {
      // As the command does it, with a libvirt of this host.
      Files.write(folder.resolve("debian.qcow2"), new byte[] {'Q', 'F', 'I', (byte) 0xfb});
      DescriptorFile file =
          DescriptorReader.read(folder.resolve("lab.yaml"), text + "libvirt: " + uri + "\n");
      start = System.nanoTime();
      plan = plan(folder, file, access);
    }
    long took = System.nanoTime() - start;
    String setting = uri.isEmpty() ? "folder" : "folder and libvirt";
    figure(setting, "observe and plan", "ms", took / 1e6);
    figure(setting, "observe and plan: CPU, with the start of Java", "ms", cpu());
    figure(setting, "observe and plan: actions", "", plan.actions().size());
    figure(setting, "observe and plan: files read", "", files.reads.size());
    long again = files.reads.values().stream().filter(count -> count.sum() > 1).count();
    figure(setting, "observe and plan: files read more than once", "", again);
    figure(setting, "observe and plan: most memory", "KiB", peak());
  }

  private static Plan plan(Path folder, DescriptorFile file, HostAccess access) {
    StateFolder state = new StateFolder(new Name("lab"), folder.resolve("state/lab"));
    JournalState journal = Journal.read(state.journal(), Steps.CODEC);
    try (Connections connections = new Connections()) {
      Snapshot here =
          new Observer(connections, access).observe(file, state, JournalKnowledge.of(journal));
      if (here.libvirt().guests().size() < GUESTS) {
        throw new IllegalStateException("libvirt lists " + here.libvirt().guests().size());
      }
      Snapshot seen =
          new Snapshot(
              DeviceHost.ROOMY,
              here.libvirt(),
              here.files(),
              here.folders(),
              here.listening(),
              here.servers(),
              here.grants(),
              here.bundles(),
              here.devices(),
              here.channels(),
              ServiceFacts.NONE,
              Map.of(),
              ContainerFacts.NONE,
              List.of());
      return Planner.plan(
          new PlanInput(file, seen, journal, Layout.of(state, true), new KvmHypervisor()));
    }
  }

  /** Guests of somebody else, each with a device that the deployment is not about. */
  private static void domains(Path folder) throws Exception {
    Files.createDirectories(folder);
    for (int i = 0; i < GUESTS; i++) {
      String xml =
          """
          <domain type='qemu'>
            <name>other-%d</name>
            <memory unit='MiB'>64</memory>
            <os><type machine='q35'>hvm</type></os>
            <devices>
              <hostdev mode='subsystem' type='pci' managed='no'>
                <source>
                  <address domain='0x0000' bus='0x%02x' slot='0x%02x' function='0x0'/>
                </source>
              </hostdev>
            </devices>
          </domain>
          """;
      Files.writeString(folder.resolve(i + ".xml"), xml.formatted(i, 0x80 + i / 32, i % 32));
    }
  }

  private static void validate(int count, int guests) throws Exception {
    String[] texts = new String[count];
    for (int i = 0; i < count; i++) {
      texts[i] = descriptor("host-" + i, guests);
    }
    long start = System.nanoTime();
    for (int i = 0; i < count; i++) {
      DescriptorReader.read(Path.of("/d/host-" + i + ".yaml"), texts[i]);
    }
    figure("folder", "validate: descriptors", "", count);
    figure("folder", "validate: lines in each", "", texts[0].lines().count());
    figure("folder", "validate", "ms", (System.nanoTime() - start) / 1e6);
    figure("folder", "validate: CPU", "ms", cpu());
  }

  private static void apply(Path folder) throws Exception {
    DeviceHost host = make(folder, 0);
    Slow.start();
    long start = System.nanoTime();
    Plan plan = host.plan(descriptor("lab", GUESTS));
    long planned = System.nanoTime() - start;
    host.apply(plan);
    long wall = System.nanoTime() - start;
    long kernel = Slow.busy();
    figure("folder", "apply: steps", "", DeviceHost.ofDevices(plan).actions().size());
    figure("folder", "apply", "ms", wall / 1e6);
    figure("folder", "apply: while a step waits for the kernel", "ms", kernel / 1e6);
    figure("folder", "apply: while no step waits for the kernel", "ms", (wall - kernel) / 1e6);
    figure("folder", "apply: to observe and plan", "ms", planned / 1e6);
    figure("folder", "apply: CPU", "ms", cpu());
    figure("folder", "apply: the kernel's work, one after the other", "ms", Slow.sum() / 1e6);
  }

  /** Prints a line of a results file (docs/compare.md); each process prints its figures once. */
  private static void figure(String setting, String name, String unit, Number value) {
    System.out.printf(
        Locale.ROOT,
        "{\"setting\":\"%s\",\"name\":\"%s\",\"unit\":\"%s\",\"state\":\"filled\","
            + "\"samples\":[%s]}%n",
        setting,
        name,
        unit,
        value);
  }

  private static String adapter(int i) {
    return String.format("0000:%02x:00.0", 0x20 + 2 * i);
  }

  private static String gpu(int i) {
    return String.format("0000:%02x:00.0", 0x60 + i);
  }

  private static String descriptor(String name, int guests) {
    StringBuilder text = new StringBuilder("graft: 1\nname: " + name + "\ngpus:\n");
    for (int i = 0; i < GPUS; i++) {
      text.append("  - {name: gpu").append(i).append(", owner: \"guest:g").append(i);
      text.append("\", device: \"").append(gpu(i)).append("\"}\n");
    }
    text.append("fabric:\n  persistent: false\n  adapters:\n");
    for (int i = 0; i < ADAPTERS; i++) {
      text.append("    - {name: ib").append(i).append(", device: \"").append(adapter(i));
      text.append("\", vfs: ").append(FUNCTIONS).append("}\n");
    }
    text.append("guests:\n");
    for (int i = 0; i < Math.max(GPUS, guests); i++) {
      text.append("  - {name: g").append(i).append(", image: debian.qcow2, memory: 1GiB,");
      text.append(" setup: none, vfs: [{adapter: ib").append(i % ADAPTERS).append("}]}\n");
    }
    return text.toString();
  }

  /** What this process has had of the CPUs: on a busy machine the other times say little. */
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

  /** The folder has no live netlink behind it. */
  private static final VfLinks NO_LINKS =
      new VfLinks() {
        @Override
        public List<VfSettings> read(NetInterface physical) {
          return List.of();
        }

        @Override
        public void set(NetInterface physical, int vf, VfSettings wanted) {
          throw new UnsupportedOperationException();
        }
      };

  /** Counts how often each file is read. */
  private static final class Counting extends ForwardingFiles {
    final Map<String, LongAdder> reads = new ConcurrentHashMap<>();

    Counting(Sysfs files) {
      super(files);
    }

    @Override
    public Optional<String> read(String path) {
      Optional<String> text = super.read(path);
      if (text.isPresent()) {
        reads.computeIfAbsent(path, p -> new LongAdder()).increment();
      }
      return text;
    }
  }

  /** A kernel that takes its time. What it does in a folder counts as its time too. */
  private static final class Slow {
    private static final long FUNCTIONS_MS = 2000;
    private static final long BIND_MS = 50;
    private static final long ATTRIBUTE_MS = 5;

    private static boolean on;
    private static int active;
    private static long since;
    private static long busy;
    private static long sum;

    private Slow() {}

    static HostAccess of(HostAccess host) {
      return new HostAccess(
          new SlowFiles(host.files()), new SlowLinks(host.links()), host.limits());
    }

    static synchronized void start() {
      on = true;
    }

    static synchronized long busy() {
      return busy;
    }

    static synchronized long sum() {
      return sum;
    }

    private static void call(long millis, Runnable work) {
      long start = System.nanoTime();
      enter(start);
      try {
        Thread.sleep(on ? millis : 0);
        work.run();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } finally {
        leave(start, System.nanoTime());
      }
    }

    private static synchronized void enter(long now) {
      if (active++ == 0) {
        since = now;
      }
    }

    private static synchronized void leave(long start, long end) {
      sum += on ? end - start : 0;
      if (--active == 0 && on) {
        busy += end - since;
      }
    }

    private static final class SlowFiles extends ForwardingFiles {
      SlowFiles(Sysfs files) {
        super(files);
      }

      @Override
      public void write(String path, String value, Duration limit) {
        long millis =
            path.endsWith("sriov_numvfs")
                ? FUNCTIONS_MS
                : path.endsWith("bind") ? BIND_MS : ATTRIBUTE_MS;
        call(millis, () -> super.write(path, value, limit));
      }
    }

    private record SlowLinks(VfLinks links) implements VfLinks {
      @Override
      public List<VfSettings> read(NetInterface physical) {
        return links.read(physical);
      }

      @Override
      public void set(NetInterface physical, int vf, VfSettings wanted) {
        call(ATTRIBUTE_MS, () -> links.set(physical, vf, wanted));
      }
    }
  }
}
