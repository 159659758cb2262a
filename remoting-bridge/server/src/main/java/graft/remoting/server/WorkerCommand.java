package graft.remoting.server;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * How a worker's process is started: this Java runtime, this class path, small. Nothing secret is
 * in its arguments or environment; what a session needs comes over the private socket.
 */
final class WorkerCommand {
  private static final List<String> SMALL =
      List.of(
          "-XX:+UseSerialGC",
          "-XX:-UsePerfData",
          "-Xms8m",
          // A client can make the server keep so much for it, and no more; then its session ends.
          "-Xmx512m",
          "-XX:+ExitOnOutOfMemoryError",
          "-XX:-CreateCoredumpOnCrash",
          "-Xss512k",
          "-XX:MinHeapFreeRatio=10",
          "-XX:MaxHeapFreeRatio=30",
          "-Xshare:auto",
          // At its own address the class archive's pages are shared by all workers, 7 MB each.
          "-XX:+UnlockDiagnosticVMOptions",
          "-XX:ArchiveRelocationMode=0");

  /**
   * Programs on the software device are short. Without its second compiler Java has compiled what
   * they need a third sooner and takes 20 MB less; beyond 3 seconds kernels run slower.
   */
  private static final String SHORT = "-XX:TieredStopAtLevel=1";

  private static final String TEMPORARY = System.getProperty("java.io.tmpdir");

  private final Path socket;
  private final int spinMicros;
  private final String rdmaPorts;
  private final List<String> options;

  /**
   * A command.
   *
   * @param socket the private socket, to which workers connect
   * @param spinMicros how long a worker polls for the next record before it sleeps
   * @param rdmaPorts the ports that rdma goes by; those that UCX likes if empty
   * @param options further options of the Java runtime
   */
  WorkerCommand(Path socket, int spinMicros, List<String> rdmaPorts, List<String> options) {
    this.socket = socket;
    this.spinMicros = spinMicros;
    this.rdmaPorts = String.join(",", rdmaPorts);
    this.options = List.copyOf(options);
  }

  /** Starts a process for one device. What it logs goes where the server's log goes. */
  Process start(DeviceSpec device) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(arguments(device));
    builder.redirectInput(new File("/dev/null"));
    builder.redirectOutput(ProcessBuilder.Redirect.DISCARD);
    builder.redirectError(ProcessBuilder.Redirect.INHERIT);
    showDevice(device, builder.environment());
    if (!rdmaPorts.isEmpty()) {
      builder.environment().put(Ucx.PORTS, rdmaPorts);
    }
    // Each arena of the C library's allocator keeps megabytes of its own.
    builder.environment().putIfAbsent("MALLOC_ARENA_MAX", "1");
    return builder.start();
  }

  List<String> arguments(DeviceSpec device) {
    List<String> arguments = new ArrayList<>();
    arguments.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    arguments.addAll(SMALL);
    arguments.add("-XX:ErrorFile=" + Path.of(TEMPORARY, "graft-worker-%p.log"));
    Properties properties = System.getProperties();
    for (String name : properties.stringPropertyNames()) {
      if (name.startsWith("org.slf4j.simpleLogger.") || name.startsWith("jna.")) {
        arguments.add("-D" + name + "=" + properties.getProperty(name));
      }
    }
    if (device.kind().equals(SoftwareBackend.KIND)) {
      arguments.add(SHORT);
    }
    arguments.addAll(options);
    arguments.add("-cp");
    arguments.add(System.getProperty("java.class.path"));
    arguments.add(WorkerMain.class.getName());
    arguments.add(socket.toString());
    arguments.add(device.toString());
    arguments.add(Integer.toString(spinMicros));
    return arguments;
  }

  /**
   * Lets the process see only the GPU of the index, which is then its device 0, so that a session
   * can reach no other. An index counts in the server's own list where it has one.
   */
  static void showDevice(DeviceSpec device, Map<String, String> environment) {
    if (device.index().isEmpty()) {
      return;
    }
    int index = device.index().getAsInt();
    String visible = environment.get("CUDA_VISIBLE_DEVICES");
    if (visible == null) {
      environment.putIfAbsent("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
      environment.put("CUDA_VISIBLE_DEVICES", Integer.toString(index));
    } else {
      String[] devices = visible.split(",", -1);
      // Out of the list: "-1" shows no device, and the worker says that there is none.
      environment.put(
          "CUDA_VISIBLE_DEVICES", index < devices.length ? devices[index].strip() : "-1");
    }
  }
}
