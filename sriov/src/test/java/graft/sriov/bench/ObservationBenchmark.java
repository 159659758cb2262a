package graft.sriov.bench;

import graft.sriov.VfSettings;
import graft.sriov.fake.FakeDevice;
import graft.sriov.fake.FakeSysfs;
import graft.sriov.files.PciPaths;
import graft.sriov.files.RootFolder;
import graft.sriov.host.NetInterface;
import graft.sriov.host.PciDevice;
import graft.sriov.netlink.VfLinks;
import graft.sriov.plan.GuidScheme;
import graft.sriov.plan.HostState;
import graft.sriov.plan.PassthroughPlanner;
import graft.sriov.plan.PassthroughRequest;
import graft.sriov.plan.VfPlanner;
import graft.sriov.plan.VfRequest;
import graft.sriov.vf.HostAccess;
import graft.sriov.vf.TimeLimits;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures how long observing and planning take for a big host: 8 physical functions of 126 VFs
 * each, 8 GPUs, 200 guests. The benchmark has two steps, so that reading is measured in a new
 * process, as in a command:
 *
 * <pre>
 *   ObservationBenchmark make FOLDER
 *   ObservationBenchmark read FOLDER [TIMES]
 * </pre>
 */
public final class ObservationBenchmark {
  private ObservationBenchmark() {}

  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[1]);
    if (args[0].equals("make")) {
      make(folder);
    } else {
      read(folder, args.length > 2 ? Integer.parseInt(args[2]) : 5);
    }
  }

  private static void make(Path folder) throws Exception {
    Files.createDirectories(folder);
    FakeSysfs fake = new FakeSysfs(folder).loadDriver("vfio-pci");
    for (int i = 0; i < 8; i++) {
      String pf = String.format("0000:%02x:00.0", 0x20 + 2 * i);
      fake.add(FakeDevice.mlx5(pf, 126).numa(i / 4));
      fake.write(PciPaths.DEVICES + "/" + pf + "/sriov_numvfs", "126", Duration.ofDays(2));
      fake.add(FakeDevice.gpu(String.format("0000:%02x:00.0", 0x60 + i)).numa(i / 4));
    }
    for (int i = 0; i < 200; i++) {
      String[] open = new String[60];
      java.util.Arrays.fill(open, "anon_inode:kvm-vcpu");
      open[0] = "/dev/vfio/" + i;
      fake.process(1000 + i, "qemu-system-x86", open);
    }
  }

  private static void read(Path folder, int times) {
    for (int i = 0; i < times; i++) {
      long start = System.nanoTime();
      RootFolder files = new RootFolder(folder);
      // The tree has no kernel that answers netlink, so that the times do not include netlink.
      VfLinks none =
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
      HostState state = HostState.read(new HostAccess(files, none, TimeLimits.DEFAULT));
      long observed = System.nanoTime();
      int operations = plan(state);
      long planned = System.nanoTime();
      System.gc();
      Runtime runtime = Runtime.getRuntime();
      long used = (runtime.totalMemory() - runtime.freeMemory()) >> 20;
      System.out.printf(
          "%d: %d devices, %d RDMA devices, %d device files in use: observed in %d ms; %d operations"
              + " planned in %d ms; heap %d MiB%n",
          i + 1,
          state.pci().devices().size(),
          state.pci().rdma().size(),
          state.pci().processes().users().size(),
          (observed - start) / 1_000_000,
          operations,
          (planned - observed) / 1_000_000,
          used);
    }
  }

  /** Plans new GUIDs for every VF, and a guest for every GPU. */
  private static int plan(HostState state) {
    List<VfRequest> vfs = new ArrayList<>();
    List<PassthroughRequest> gpus = new ArrayList<>();
    for (PciDevice device : state.pci().devices().values()) {
      if (device.sriov().isPresent()) {
        vfs.add(VfRequest.of(device.address(), 126).withGuids(GuidScheme.DEFAULT));
      } else if (device.isNvidiaGpu()) {
        gpus.add(new PassthroughRequest(device.address(), "guest" + device.address().bus()));
      }
    }
    return new VfPlanner(state).plan(vfs).size()
        + new PassthroughPlanner(state).plan(gpus).operations().size();
  }
}
