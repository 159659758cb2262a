package graft.remoting.server.jail;

import graft.remoting.server.transport.Ucx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The files of this host that UCX and libibverbs need for InfiniBand and RoCE adapters. */
final class AdapterFiles {
  private static final Path NODES = Path.of("/dev/infiniband");
  private static final List<String> READ =
      List.of(
          "/sys", "/etc/libibverbs.d", "/etc/ucx", "/proc/cpuinfo", "/proc/meminfo", "/proc/sys");

  private final Map<String, String> environment;

  AdapterFiles(Map<String, String> environment) {
    this.environment = environment;
  }

  List<Path> nodes() {
    try (Stream<Path> all = Files.list(NODES)) {
      return all.filter(node -> !Files.isDirectory(node)).sorted().toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  List<Path> readable() {
    return Stream.concat(READ.stream(), Stream.ofNullable(environment.get(Ucx.DEVICES_VARIABLE)))
        .map(Path::of)
        .filter(path -> path.isAbsolute() && Files.exists(path))
        .toList();
  }
}
