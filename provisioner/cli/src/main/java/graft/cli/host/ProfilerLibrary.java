package graft.cli.host;

import graft.common.GraftException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How a program gets Graft's libcupti. PyTorch names the folder of NVIDIA's in its own libraries
 * (DT_RPATH), which the loader searches before {@code LD_LIBRARY_PATH}; a library of the same name
 * that is loaded already is taken instead.
 */
final class ProfilerLibrary {
  private static final String PRELOAD = "LD_PRELOAD";
  private static final List<String> NAMES = List.of("libcupti.so.13", "libcupti.so.12");

  private ProfilerLibrary() {}

  /**
   * The variables of a program's environment.
   *
   * @param client the client's folder
   * @param before the environment that the program has otherwise
   * @throws GraftException if the client has no libcupti
   */
  static Map<String, String> environment(Path client, Map<String, String> before) {
    Path folder = client.resolve("cupti");
    List<Path> libraries = NAMES.stream().map(folder::resolve).toList();
    for (Path library : libraries) {
      if (!Files.exists(library)) {
        throw new GraftException("there is no " + library, "run ./graft build, or install Graft");
      }
    }
    String preload =
        Stream.concat(
                libraries.stream().map(Path::toString), Stream.ofNullable(before.get(PRELOAD)))
            .collect(Collectors.joining(":"));
    // Triton has a libcupti of its own, in the folder that this variable names otherwise.
    return Map.of(PRELOAD, preload, "TRITON_CUPTI_LIB_PATH", folder.toString());
  }
}
