package graft.remoting.api;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Writes generated sources: {@code Generator device|server|client FOLDER}. */
public final class Generator {
  private Generator() {}

  /** Runs the generator. */
  public static void main(String[] args) throws IOException {
    if (args.length != 2) {
      throw new IllegalArgumentException("usage: Generator device|server|client FOLDER");
    }
    Description description = Description.load();
    JavaGenerator java = new JavaGenerator(description);
    Path folder = Path.of(args[1]);
    switch (args[0]) {
      case "device" -> {
        Path at = folder.resolve("graft/remoting/device");
        for (Map.Entry<String, String> source : java.deviceInterfaces().entrySet()) {
          write(at.resolve(source.getKey() + ".java"), source.getValue());
        }
      }
      case "server" -> {
        Path at = folder.resolve("graft/remoting/server");
        write(at.resolve("NativeCuda.java"), java.nativeCuda());
        write(at.resolve("NativeCalls.java"), java.nativeCalls());
        write(at.resolve("SessionCalls.java"), java.sessionCalls());
        write(at.resolve("Dispatcher.java"), java.dispatcher());
      }
      case "client" -> {
        CGenerator c = new CGenerator(description);
        write(folder.resolve("graft_rpc.h"), c.header());
        write(folder.resolve("graft_rpc.c"), c.marshalling());
        write(folder.resolve("graft_exports.c"), c.exports());
        write(folder.resolve("graft_procs.h"), c.procs());
        write(folder.resolve("exports.map"), c.versionScript());
      }
      default -> throw new IllegalArgumentException("unknown output " + args[0]);
    }
  }

  /** Leaves a file that is right already alone, so that builds stay incremental. */
  private static void write(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    if (!Files.exists(file) || !Files.readString(file).equals(text)) {
      Files.writeString(file, text, StandardCharsets.UTF_8);
    }
  }
}
