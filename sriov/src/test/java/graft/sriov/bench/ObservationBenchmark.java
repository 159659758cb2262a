package graft.sriov.bench;

import graft.sriov.fake.FakeDevice;
import graft.sriov.fake.FakeSysfs;
import graft.sriov.files.PciPaths;
import graft.sriov.files.RootFolder;
import graft.sriov.host.HostPci;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * How long the picture of a big host takes: 8 physical functions of 126 VFs each, 8 GPUs, 200
 * guests. Two steps, so that reading is measured in a fresh process as a command would be:
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
      HostPci host = HostPci.read(new RootFolder(folder));
      long millis = (System.nanoTime() - start) / 1_000_000;
      System.gc();
      Runtime runtime = Runtime.getRuntime();
      long used = (runtime.totalMemory() - runtime.freeMemory()) >> 20;
      System.out.printf(
          "read %d: %d devices, %d RDMA devices, %d device files in use: %d ms, heap %d MiB%n",
          i + 1,
          host.devices().size(),
          host.rdma().size(),
          host.processes().users().size(),
          millis,
          used);
    }
  }
}
