package graft.sriov.host;

import graft.common.values.PciAddress;
import graft.sriov.files.Sysfs;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Reads {@code /proc/driver/nvidia}, which NVIDIA's driver fills while it is loaded. */
final class NvidiaGpus {
  private static final String GPUS = "/proc/driver/nvidia/gpus";
  private static final String CAPABILITIES = "/proc/driver/nvidia/capabilities";

  private NvidiaGpus() {}

  static List<NvidiaGpu> read(Sysfs files) {
    List<NvidiaGpu> gpus = new ArrayList<>();
    for (String name : files.list(GPUS)) {
      PciAddress.tryParse(name).ifPresent(address -> gpus.add(read(files, address, name)));
    }
    return gpus;
  }

  private static NvidiaGpu read(Sysfs files, PciAddress address, String folder) {
    String text = files.read(GPUS + "/" + folder + "/information").orElse("");
    int minor = field(text, "Device Minor").map(Integer::parseInt).orElse(-1);
    return new NvidiaGpu(
        address,
        minor,
        field(text, "Model").orElse(""),
        field(text, "GPU UUID").orElse(""),
        minor < 0 ? List.of() : migInstances(files, minor));
  }

  /**
   * The GPU instances and their compute instances: .../gpuN/mig/giX/ciY (NVIDIA, MIG user guide).
   */
  private static List<String> migInstances(Sysfs files, int minor) {
    String folder = CAPABILITIES + "/gpu" + minor + "/mig";
    List<String> instances = new ArrayList<>();
    for (String gpuInstance : files.list(folder)) {
      List<String> parts =
          files.list(folder + "/" + gpuInstance).stream()
              .filter(name -> name.startsWith("ci"))
              .map(name -> gpuInstance + "/" + name)
              .toList();
      instances.addAll(parts.isEmpty() ? List.of(gpuInstance) : parts);
    }
    return instances;
  }

  static OptionalInt minor(Sysfs files, PciAddress address) {
    Optional<String> minor =
        files
            .read(GPUS + "/" + address + "/information")
            .flatMap(text -> field(text, "Device Minor"));
    return minor.isPresent() ? OptionalInt.of(Integer.parseInt(minor.get())) : OptionalInt.empty();
  }

  private static Optional<String> field(String text, String name) {
    return text.lines()
        .filter(line -> line.startsWith(name + ":"))
        .map(line -> line.substring(name.length() + 1).strip())
        .findFirst();
  }
}
