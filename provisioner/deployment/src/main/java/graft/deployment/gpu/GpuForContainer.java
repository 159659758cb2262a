package graft.deployment.gpu;

import graft.hypervisors.libvirt.domain.Boot;
import java.util.List;

/**
 * What a container needs of this host to use a GPU of its own: NVIDIA's device nodes, and the files
 * of the driver's version.
 *
 * @param nodes the paths of the device nodes
 * @param files the driver's libraries and programs, with their paths in the container
 * @param from where this was found, for display
 * @param problem why no container can have the GPU; empty if one can
 * @param hint what to do about the problem; may be empty
 */
public record GpuForContainer(
    List<String> nodes, List<Boot.SharedFolder> files, String from, String problem, String hint) {
  /** The file that names the libraries' folder to loaders that do not look there by themselves. */
  public static final String LOADER_FILE = "/etc/ld.so.conf.d/graft-nvidia.conf";

  /** The content of {@link #LOADER_FILE}. */
  public static final String LOADER_LIST =
      "# Written by graft: the driver's libraries of the host.\n" + DriverFiles.INSIDE + "\n";

  public GpuForContainer {
    nodes = List.copyOf(nodes);
    files = List.copyOf(files);
  }

  /** A GPU that no container can have. */
  static GpuForContainer refused(String problem, String hint) {
    return new GpuForContainer(List.of(), List.of(), "", problem, hint);
  }
}
