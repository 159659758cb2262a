package graft.deployment.gpu;

import graft.hypervisors.libvirt.domain.Boot;
import graft.sriov.files.Sysfs;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The files of NVIDIA's driver that CUDA programs need, found by their names: their version is that
 * of the kernel's module.
 *
 * @see <a
 *     href="https://download.nvidia.com/XFree86/Linux-x86_64/580.82.07/README/installedcomponents.html">
 *     NVIDIA, installed components</a>
 */
final class DriverFiles {
  private static final String VERSION = "/sys/module/nvidia/version";

  /**
   * Where distributions keep the libraries, Debian in the third, and where hosts whose driver comes
   * from a container have them.
   */
  private static final List<String> FOLDERS =
      List.of(
          "/usr/lib/x86_64-linux-gnu",
          "/usr/lib64",
          "/usr/lib/x86_64-linux-gnu/nvidia/current",
          "/usr/local/nvidia/lib64");

  /** A folder in which the loader of Debian and its kin looks; others are told of it. */
  static final String INSIDE = "/usr/lib/x86_64-linux-gnu";

  static final String CUDA = "libcuda";

  /** The libraries, each with the number in the name by which programs ask for it (its SONAME). */
  private static final Map<String, String> LIBRARIES = new LinkedHashMap<>();

  static {
    LIBRARIES.put(CUDA, "1");
    LIBRARIES.put("libnvidia-ml", "1");
    LIBRARIES.put("libnvidia-ptxjitcompiler", "1");
    LIBRARIES.put("libnvidia-nvvm", "4");
    LIBRARIES.put("libnvidia-cfg", "1");
    LIBRARIES.put("libnvidia-opencl", "1");
    LIBRARIES.put("libnvidia-allocator", "1");
    LIBRARIES.put("libnvidia-encode", "1");
    LIBRARIES.put("libnvidia-opticalflow", "1");
    LIBRARIES.put("libnvidia-sandboxutils", "1");
    LIBRARIES.put("libnvcuvid", "1");
    LIBRARIES.put("libcudadebugger", "1");
    LIBRARIES.put("libnvidia-gpucomp", ""); // its version
  }

  /** Libraries whose name has no version of the driver in it. */
  private static final List<String> UNVERSIONED = List.of("libnvidia-nvvm70.so.4");

  private static final String PROGRAM = "/usr/bin/nvidia-smi";

  private DriverFiles() {}

  /** The version of the kernel's module; empty if it is not loaded. */
  static Optional<String> version(Sysfs files) {
    return files.read(VERSION).filter(text -> text.matches("[0-9]+(\\.[0-9]+){1,3}"));
  }

  /** The files of a version that are here; without the library of CUDA, nothing is of use. */
  static List<Boot.SharedFolder> find(Sysfs files, String version) {
    List<Boot.SharedFolder> found = new ArrayList<>();
    LIBRARIES.forEach(
        (library, number) -> {
          String name = library + ".so." + version;
          at(files, name)
              .ifPresent(
                  path -> {
                    found.add(new Boot.SharedFolder(path, INSIDE + "/" + name));
                    if (!number.isEmpty()) {
                      String asked = INSIDE + "/" + library + ".so." + number;
                      found.add(new Boot.SharedFolder(path, asked));
                    }
                  });
        });
    for (String name : UNVERSIONED) {
      at(files, name)
          .ifPresent(path -> found.add(new Boot.SharedFolder(path, INSIDE + "/" + name)));
    }
    RealPath.of(files, PROGRAM).ifPresent(path -> found.add(new Boot.SharedFolder(path, PROGRAM)));
    return found;
  }

  /**
   * The names by which programs ask for the libraries among some files, beside these files.
   *
   * @param files files of the driver with the version in their names
   */
  static List<Boot.SharedFolder> asked(List<Boot.SharedFolder> files) {
    List<Boot.SharedFolder> asked = new ArrayList<>();
    for (Boot.SharedFolder file : files) {
      String name = file.target().substring(file.target().lastIndexOf('/') + 1);
      int so = name.indexOf(".so.");
      String number = so < 0 ? "" : LIBRARIES.getOrDefault(name.substring(0, so), "");
      String folder = file.target().substring(0, file.target().lastIndexOf('/') + 1);
      String target = folder + name.substring(0, Math.max(so, 0)) + ".so." + number;
      if (!number.isEmpty() && files.stream().noneMatch(one -> one.target().equals(target))) {
        asked.add(new Boot.SharedFolder(file.source(), target));
      }
    }
    return asked;
  }

  private static Optional<String> at(Sysfs files, String name) {
    return FOLDERS.stream()
        .map(folder -> folder + "/" + name)
        .filter(files::exists)
        .findFirst()
        .flatMap(path -> RealPath.of(files, path));
  }
}
