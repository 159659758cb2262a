package graft.sriov.fake;

import java.nio.file.Files;

/** NVIDIA's driver: the files that it shows for a GPU that is bound to it. */
final class FakeGpus {
  private FakeGpus() {}

  static void attach(FakeKernel kernel, FakeDevice gpu) {
    // The number follows from the position, so that states can be compared; the real driver uses
    // the lowest free number.
    long minor =
        kernel.devices().headMap(gpu.address).values().stream()
            .filter(other -> other.vendor == 0x10de && other.pciClass >> 16 == 3)
            .count();
    kernel.tree.file("/dev/nvidia" + minor, "");
    kernel.tree.file(
        information(gpu),
        String.format(
            "Model: \t\t NVIDIA A100-SXM4-40GB%nIRQ:   \t\t 255%n"
                + "GPU UUID: \t GPU-00000000-0000-0000-0000-%012x%nVideo BIOS: \t 92.00.45.00.03%n"
                + "Bus Location: \t %s%nDevice Minor: \t %d%n",
            gpu.interfaceIndex(), gpu.address, minor));
  }

  static void detach(FakeKernel kernel, FakeDevice gpu) {
    try {
      String text = Files.readString(kernel.tree.path(information(gpu)));
      String minor = text.substring(text.indexOf("Device Minor:") + 13).strip();
      kernel.tree.delete("/dev/nvidia" + minor);
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
    kernel.tree.delete("/proc/driver/nvidia/gpus/" + gpu.address);
  }

  private static String information(FakeDevice gpu) {
    return "/proc/driver/nvidia/gpus/" + gpu.address + "/information";
  }
}
