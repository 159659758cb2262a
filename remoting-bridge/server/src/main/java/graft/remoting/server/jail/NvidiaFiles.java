package graft.remoting.server.jail;

import com.google.errorprone.annotations.concurrent.GuardedBy;
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

/**
 * What NVIDIA's driver library needs of this host: device nodes, the library's folder, and files
 * that it reads.
 */
public final class NvidiaFiles {
  private static final Logger LOG = LoggerFactory.getLogger(NvidiaFiles.class);
  private static final String LIBRARY = "libcuda.so.1";

  /** The device nodes that every session needs. */
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

  @GuardedBy("this")
  private List<Path> readable;

  /**
   * Creates the files of a host.
   *
   * @param root the host's root folder
   */
  public NvidiaFiles(Path root) {
    this.root = root;
  }

  /**
   * A GPU.
   *
   * @param uuid the name that CUDA_VISIBLE_DEVICES accepts
   * @param node its device node
   */
  public record Gpu(String uuid, Path node) {}

  /**
   * Returns the GPU of an index in the order of PCI addresses, empty if the driver does not say
   * enough about it. The nodes of other GPUs can be left out only if the GPU is known.
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
   * Returns the device nodes of a session: those of all GPUs and MIG instances, or of one GPU.
   *
   * @param gpu that one GPU
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

  /** Returns the existing files that the driver's library reads, as they were at the first call. */
  synchronized List<Path> readable() {
    if (readable == null) {
      readable = findReadable();
    }
    return readable;
  }

  private List<Path> findReadable() {
    Set<Path> found = new LinkedHashSet<>();
    READ.stream().map(root::resolve).filter(Files::exists).forEach(found::add);
    found.addAll(libraryFolders());
    return List.copyOf(found);
  }

  /**
   * Returns the folders of the driver's library, both as the dynamic linker knows them and without
   * symbolic links.
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
   * Creates missing device nodes, as the driver's library would if it were not confined: the node
   * of unified memory is created by the first program that uses CUDA.
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
