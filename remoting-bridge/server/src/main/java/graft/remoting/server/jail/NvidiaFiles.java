package graft.remoting.server.jail;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What NVIDIA's driver library needs of this machine: device nodes, its folder, and answers. */
public final class NvidiaFiles {
  private static final Logger LOG = LoggerFactory.getLogger(NvidiaFiles.class);
  private static final String LIBRARY = "libcuda.so.1";

  /** Nodes that every session needs. */
  private static final List<String> COMMON = List.of("dev/nvidiactl", "dev/nvidia-uvm");

  private static final List<String> READ =
      List.of(
          "proc/driver/nvidia",
          "proc/devices",
          "proc/filesystems",
          "proc/modules",
          "proc/cpuinfo",
          "proc/meminfo",
          "proc/version",
          "proc/sys/vm",
          "proc/sys/kernel",
          "sys/bus/pci",
          "sys/devices",
          "sys/module");

  private final Path root;

  /**
   * Of a machine.
   *
   * @param root its root folder
   */
  public NvidiaFiles(Path root) {
    this.root = root;
  }

  /**
   * A GPU.
   *
   * @param uuid the name by which CUDA_VISIBLE_DEVICES may have it
   * @param node its device node
   */
  public record Gpu(String uuid, Path node) {}

  /**
   * The GPU of an index in the order of PCI addresses, if the driver says enough of it. Only then
   * can the others' nodes be left out.
   */
  public Optional<Gpu> gpu(int index) {
    List<Path> folders = children(root.resolve("proc/driver/nvidia/gpus"), "");
    if (index >= folders.size()) {
      return Optional.empty();
    }
    String uuid = "";
    String minor = "";
    try {
      for (String line : Files.readAllLines(folders.get(index).resolve("information"))) {
        String value = line.substring(line.indexOf(':') + 1).strip();
        if (line.startsWith("GPU UUID:")) {
          uuid = value;
        } else if (line.startsWith("Device Minor:")) {
          minor = value;
        }
      }
    } catch (IOException e) {
      return Optional.empty();
    }
    Path node = root.resolve("dev/nvidia" + minor);
    return uuid.matches("GPU-[0-9a-f-]{36}") && minor.matches("\\d+") && Files.exists(node)
        ? Optional.of(new Gpu(uuid, node))
        : Optional.empty();
  }

  /**
   * The device nodes of a session: those of all GPUs and MIG instances, or of one GPU.
   *
   * @param gpu that one
   */
  public List<Path> nodes(Optional<Gpu> gpu) {
    List<Path> nodes = new ArrayList<>();
    COMMON.stream().map(root::resolve).filter(Files::exists).forEach(nodes::add);
    if (gpu.isPresent()) {
      nodes.add(gpu.get().node());
    } else {
      for (Path node : children(root.resolve("dev"), "nvidia")) {
        if (node.getFileName().toString().matches("nvidia\\d+")) {
          nodes.add(node);
        }
      }
      nodes.addAll(children(root.resolve("dev/nvidia-caps"), ""));
    }
    return nodes;
  }

  private static List<Path> children(Path folder, String prefix) {
    try (Stream<Path> all = Files.list(folder)) {
      return all.filter(p -> p.getFileName().toString().startsWith(prefix)).sorted().toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  /** What the driver's library reads, as far as it is there. */
  List<Path> readable() {
    Set<Path> found = new LinkedHashSet<>();
    READ.stream().map(root::resolve).filter(Files::exists).forEach(found::add);
    found.addAll(libraryFolders());
    return List.copyOf(found);
  }

  /**
   * The folders of the driver's library, as the dynamic linker has them, and as they really are.
   */
  private static List<Path> libraryFolders() {
    List<Path> folders = new ArrayList<>();
    for (String line : run("/sbin/ldconfig", "-p")) {
      int arrow = line.indexOf("=> ");
      if (arrow > 0 && line.strip().startsWith(LIBRARY)) {
        Path library = Path.of(line.substring(arrow + 3).strip());
        try {
          folders.add(library.getParent());
          folders.add(library.toRealPath().getParent());
        } catch (IOException e) {
          LOG.debug("{}: {}", library, e.getMessage());
        }
      }
    }
    return folders;
  }

  /**
   * Makes device nodes that are missing, as the driver's library would if it were not confined: the
   * one of unified memory comes with the first program that uses CUDA.
   */
  void makeNodes() {
    if (!Files.exists(root.resolve("dev/nvidia-uvm"))) {
      run("nvidia-modprobe", "-c", "0", "-u");
    }
  }

  private static List<String> run(String... command) {
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectInput(new File("/dev/null"))
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      process.waitFor();
      return printed.lines().toList();
    } catch (IOException e) {
      LOG.debug("{}: {}", command[0], e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return List.of();
  }
}
