package graft.remoting.server.jail;

import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.stream.Stream;

/** The files that a Java runtime and Graft's classes need, which a worker sees read-only. */
public final class WorkerFiles {
  /**
   * How deep to look for Java's folders that link to /etc in Debian's packages: conf/ and
   * lib/security/.
   */
  private static final int DEPTH = 4;

  /**
   * The files that the dynamic linker and the C library need, if they exist, and how many threads
   * want to run.
   */
  private static final List<String> SYSTEM =
      List.of(
          "/lib/x86_64-linux-gnu",
          "/lib64",
          "/usr/lib/x86_64-linux-gnu",
          "/usr/lib64",
          "/usr/lib/locale",
          "/etc/ld.so.cache",
          "/proc/loadavg",
          "/sys/devices/system/cpu",
          "/sys/devices/system/node");

  /** How the names begin of NVIDIA's libraries that belong to the profiling library. */
  private static final List<String> PROFILING = List.of("libcupti.so", "libnvperf_");

  private final Set<Path> paths = new LinkedHashSet<>();
  private final Map<Path, Path> links = new LinkedHashMap<>();

  /** Returns the files and folders, by paths without symbolic links. */
  public Set<Path> paths() {
    return paths;
  }

  /** Returns the symbolic links that lead to them, and the links' targets. */
  public Map<Path, Path> links() {
    return links;
  }

  /** Returns the files of this Java runtime, this class path and the libraries. */
  public static WorkerFiles ofThisRuntime() throws IOException {
    WorkerFiles files = new WorkerFiles();
    for (String path : SYSTEM) {
      files.add(Path.of(path));
    }
    files.addRuntime(Path.of(System.getProperty("java.home")));
    for (String element : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      if (!element.isEmpty()) {
        files.addClasses(Path.of(element).toAbsolutePath());
      }
    }
    String libraries = System.getenv().getOrDefault("LD_LIBRARY_PATH", "");
    String own = System.getProperty("jna.library.path", "");
    for (String folder : (libraries + File.pathSeparator + own).split(File.pathSeparator, -1)) {
      files.add(Path.of(folder));
    }
    return files;
  }

  /**
   * Returns a profiling library and those of NVIDIA's beside it that it may load. The rest of its
   * folder stays hidden: an operator may name a library in any folder.
   */
  public static WorkerFiles ofProfiler(Path library) throws IOException {
    WorkerFiles files = new WorkerFiles();
    files.add(library);
    try (DirectoryStream<Path> beside = Files.newDirectoryStream(library.getParent(), "lib*.so*")) {
      for (Path file : beside) {
        String name = file.getFileName().toString();
        if (PROFILING.stream().anyMatch(name::startsWith) && Files.isRegularFile(file)) {
          files.add(file);
        }
      }
    }
    return files;
  }

  /** Adds a file or a folder if it exists. */
  public void add(Path path) throws IOException {
    if (!path.isAbsolute() || !Files.exists(path)) {
      return;
    }
    Path place = path.getRoot();
    for (Path name : path.normalize()) {
      Path next = place.resolve(name);
      if (Files.isSymbolicLink(next)) {
        Path target = Files.readSymbolicLink(next);
        links.put(next, target);
        add(place.resolve(target).resolve(next.relativize(path)).normalize());
        return;
      }
      place = next;
    }
    paths.add(place);
  }

  private void addRuntime(Path home) throws IOException {
    add(home);
    Path real = home.toRealPath();
    try (Stream<Path> all = Files.walk(real, DEPTH)) {
      for (Path link : (Iterable<Path>) all.filter(Files::isSymbolicLink)::iterator) {
        if (Files.isRegularFile(link) && !link.toRealPath().startsWith(real)) {
          add(link);
        }
      }
    }
  }

  /** Adds a folder or a jar of the class path, and the jars that its manifest names. */
  private void addClasses(Path element) throws IOException {
    add(element);
    if (!Files.isRegularFile(element)) {
      return;
    }
    try (JarFile jar = new JarFile(element.toFile())) {
      Manifest manifest = jar.getManifest();
      String more =
          manifest == null
              ? null
              : manifest.getMainAttributes().getValue(Attributes.Name.CLASS_PATH);
      for (String name : more == null ? new String[0] : more.split(" ")) {
        Path added = element.resolveSibling(name).normalize();
        if (!name.isEmpty() && !name.contains(":") && !paths.contains(added)) {
          addClasses(added);
        }
      }
    }
  }
}
