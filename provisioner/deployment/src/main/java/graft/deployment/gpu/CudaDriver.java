package graft.deployment.gpu;

import graft.common.json.Json;
import graft.common.json.RecordTrees;
import graft.common.program.ClientFolder;
import graft.common.program.HostProgram;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The answer of the CUDA driver that programs of this machine load: NVIDIA's or Graft's client.
 *
 * @param version the CUDA version that the driver supports, {@code 13.0}; empty if there is no
 *     answer
 * @param problem why there is no answer; empty if there is one
 */
public record CudaDriver(String version, List<CudaDevice> devices, String problem) {
  /** Without persistence mode the driver needs a few seconds to initialize each of eight GPUs. */
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private static final RecordTrees TREES = new RecordTrees(Map.of());

  public CudaDriver {
    devices = List.copyOf(devices);
  }

  static CudaDriver silent(String problem) {
    return new CudaDriver("", List.of(), problem);
  }

  /**
   * Asks the driver in a separate process: a driver that hangs or crashes then affects nothing
   * else, and Graft's own process does not load it.
   */
  public static CudaDriver ask(Map<String, String> environment) {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    ByteArrayOutputStream errors = new ByteArrayOutputStream();
    Map<String, String> variables = new HashMap<>(environment);
    variables.putIfAbsent("CUDA_DEVICE_ORDER", "PCI_BUS_ID"); // the order of 'gpu:INDEX'
    try {
      HostProgram.End end =
          HostProgram.of(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  List.of(
                      "-XX:+UseSerialGC",
                      "-XX:TieredStopAtLevel=1",
                      "-XX:-CreateCoredumpOnCrash",
                      "-XX:ErrorFile=/dev/null",
                      "-Xshare:auto",
                      "-Djava.library.path=" + ClientFolder.home().resolve("lib"),
                      "-cp",
                      System.getProperty("java.class.path"),
                      CudaQuestion.class.getName()))
              .with(variables)
              .run(LIMIT, new ByteArrayInputStream(new byte[0]), said, errors);
      if (end.late()) {
        return silent("no answer within " + LIMIT.toSeconds() + " s");
      }
      if (end.code() != 0) {
        return silent("the question ended with exit code " + end.code() + lastLine(errors));
      }
      return read(said.toString(StandardCharsets.UTF_8), lastLine(errors));
    } catch (IOException e) {
      return silent(e.getMessage());
    }
  }

  /** The answer as a tree for JSON. */
  public Map<String, Object> tree() {
    return TREES.write(this);
  }

  static CudaDriver read(String answer, String remark) throws IOException {
    try {
      CudaDriver driver = TREES.read(CudaDriver.class, Json.readObject(answer));
      return driver.problem.isEmpty() ? driver : silent(driver.problem + remark);
    } catch (IllegalArgumentException e) {
      throw new IOException("the answer is no driver's: " + e.getMessage(), e);
    }
  }

  /**
   * The last line of standard error, where Graft's client explains why it cannot reach its server.
   */
  private static String lastLine(ByteArrayOutputStream errors) {
    List<String> lines = errors.toString(StandardCharsets.UTF_8).strip().lines().toList();
    return lines.isEmpty() ? "" : " (" + lines.get(lines.size() - 1) + ")";
  }
}
