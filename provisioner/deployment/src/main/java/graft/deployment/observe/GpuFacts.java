package graft.deployment.observe;

import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.gpu.GpuDevice;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.gpu.CudaDevice;
import graft.deployment.gpu.CudaDriver;
import graft.sriov.files.RootFolder;
import java.util.List;
import java.util.OptionalInt;

/**
 * A GPU of the host.
 *
 * @param index the driver's number for it, as in {@code gpu:1}
 * @param name as the driver says it: {@code NVIDIA H100 80GB HBM3}
 * @param memory all of its memory, in bytes
 * @param numa the NUMA node that it is near; empty if the host does not say
 */
public record GpuFacts(int index, String name, long memory, OptionalInt numa) {

  /**
   * Asks the driver, which takes seconds on a host with many GPUs, if plan has to choose among GPUs
   * of the host.
   */
  static List<GpuFacts> observe(Descriptor descriptor) {
    boolean needed =
        descriptor.choosesGpus()
            && descriptor.gpus().stream()
                .anyMatch(
                    gpu ->
                        gpu.owner().kind() == Owner.Kind.HOST
                            && gpu.device().kind() == GpuDevice.Kind.CUDA);
    return needed
        ? CudaDriver.ask(System.getenv()).devices().stream().map(GpuFacts::of).toList()
        : List.of();
  }

  private static GpuFacts of(CudaDevice device) {
    OptionalInt numa =
        RootFolder.thisHost()
            .read("/sys/bus/pci/devices/" + device.pci() + "/numa_node")
            .map(String::strip)
            .filter(text -> text.matches("[0-9]{1,4}")) // -1 is none
            .map(text -> OptionalInt.of(Integer.parseInt(text)))
            .orElse(OptionalInt.empty());
    return new GpuFacts(device.index(), device.name(), device.memory(), numa);
  }
}
