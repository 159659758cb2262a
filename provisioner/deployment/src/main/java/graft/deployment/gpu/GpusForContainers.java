package graft.deployment.gpu;

import graft.common.values.PciAddress;
import graft.hypervisors.libvirt.domain.Boot;
import graft.sriov.files.Sysfs;
import graft.sriov.host.NvidiaGpu;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Finds what containers need of the GPUs that are bound to NVIDIA's driver: by the description that
 * NVIDIA's container toolkit has made of this host, else by the names of the driver's files.
 */
public final class GpusForContainers {
  /** Where the toolkit writes the description: by hand, and by its service at each boot. */
  private static final List<String> DESCRIPTIONS =
      List.of("/etc/cdi/nvidia.yaml", "/var/run/cdi/nvidia.yaml");

  private static final List<String> NODES =
      List.of("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools");

  private GpusForContainers() {}

  /** What containers need of each GPU, by its address. */
  public static Map<PciAddress, GpuForContainer> read(Sysfs files, List<NvidiaGpu> gpus) {
    Map<PciAddress, GpuForContainer> found = new TreeMap<>();
    gpus.forEach(gpu -> found.put(gpu.address(), read(files, gpu)));
    return found;
  }

  private static GpuForContainer read(Sysfs files, NvidiaGpu gpu) {
    if (gpu.minor() < 0) {
      return GpuForContainer.refused(
          "NVIDIA's driver does not say which device node it has", "load the driver again");
    } else if (!gpu.migInstances().isEmpty()) {
      return GpuForContainer.refused(
          "it is divided into MIG instances, and a container gets whole GPUs",
          "serve an instance: a GPU with device: MIG-UUID, and a vgpu of it");
    }
    Optional<String> description = DESCRIPTIONS.stream().filter(files::exists).findFirst();
    return description.isPresent()
        ? NvidiaCdi.read(files, description.get(), gpu.minor())
        : byNames(files, gpu.minor());
  }

  private static GpuForContainer byNames(Sysfs files, int minor) {
    List<String> nodes = new ArrayList<>(List.of("/dev/nvidia" + minor));
    nodes.addAll(NODES);
    for (String node : nodes) {
      if (!files.exists(node)) {
        return GpuForContainer.refused(
            "this host has no device node " + node,
            "nvidia-modprobe -c 0 -u, or run a CUDA program as root once: the first makes it");
      }
    }
    Optional<String> version = DriverFiles.version(files);
    List<Boot.SharedFolder> found =
        version.map(number -> DriverFiles.find(files, number)).orElse(List.of());
    if (found.stream().noneMatch(file -> file.source().contains("/" + DriverFiles.CUDA + ".so."))) {
      return GpuForContainer.refused(
          "this host lacks the library of CUDA of its driver"
              + version.map(number -> ", libcuda.so." + number).orElse(""),
          "install the driver's libraries (Debian: libcuda1), or describe where they are:"
              + " nvidia-ctk cdi generate --output="
              + DESCRIPTIONS.get(0));
    }
    return new GpuForContainer(
        nodes, found, "the files of NVIDIA's driver " + version.get(), "", "");
  }
}
