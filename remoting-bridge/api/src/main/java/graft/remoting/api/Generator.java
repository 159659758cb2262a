package graft.remoting.api;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Writes the generated sources: {@code Generator device|server|client FOLDER}, and at a release
 * {@code Generator release FOLDER}, whose file "functions" becomes one of the folder "releases".
 */
public final class Generator {
  private Generator() {}

  /** Runs the generator. */
  public static void main(String[] args) throws IOException {
    if (args.length != 2) {
      throw new IllegalArgumentException("usage: Generator device|server|client|release FOLDER");
    }
    Description description = Description.load();
    DeviceGenerator devices = new DeviceGenerator(description);
    Path folder = Path.of(args[1]);
    switch (args[0]) {
      case "device" -> {
        Path at = folder.resolve("graft/remoting/device");
        for (Map.Entry<String, String> source : devices.deviceInterfaces().entrySet()) {
          write(at.resolve(source.getKey() + ".java"), source.getValue());
        }
      }
      case "server" -> {
        Path device = folder.resolve("graft/remoting/server/device");
        write(device.resolve("NativeCuda.java"), devices.nativeCuda());
        write(device.resolve("NativeCalls.java"), devices.nativeCalls());
        Path call = folder.resolve("graft/remoting/server/session/call");
        write(
            call.resolve("SessionCalls.java"),
            new SessionCallsGenerator(description).sessionCalls());
        write(call.resolve("Dispatcher.java"), new DispatcherGenerator(description).dispatcher());
        removeOthers(folder, device, call);
      }
      case "client" -> {
        CGenerator c = new CGenerator(description);
        write(folder.resolve("graft_rpc.h"), c.header());
        write(folder.resolve("graft_rpc.c"), c.marshalling());
        write(folder.resolve("graft_exports.c"), c.exports());
        write(folder.resolve("graft_procs.h"), c.procs());
        write(folder.resolve("exports.map"), c.versionScript());
        write(folder.resolve("answers_table.h"), new AnswersGenerator(description).table());
      }
      case "release" ->
          write(folder.resolve("functions"), String.join("\n", description.signatures()) + "\n");
      default -> throw new IllegalArgumentException("unknown output " + args[0]);
    }
  }

  /**
   * Removes files that an earlier version of the generator wrote to other folders and that would be
   * compiled too.
   */
  private static void removeOthers(Path folder, Path... kept) throws IOException {
    List<Path> others;
    try (Stream<Path> files = Files.walk(folder)) {
      others =
          files
              .filter(Files::isRegularFile)
              .filter(file -> !List.of(kept).contains(file.getParent()))
              .toList();
    }
    for (Path other : others) {
      Files.delete(other);
    }
  }

  /** Writes a file only if its content changes, so that builds stay incremental. */
  private static void write(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    if (!Files.exists(file) || !Files.readString(file).equals(text)) {
      Files.writeString(file, text, StandardCharsets.UTF_8);
    }
  }
}
