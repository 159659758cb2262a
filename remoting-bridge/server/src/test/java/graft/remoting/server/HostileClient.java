package graft.remoting.server;

import graft.remoting.server.system.ListenAddress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Controls a {@link HostileBackend}. */
final class HostileClient implements AutoCloseable {
  private final WireClient client;

  private HostileClient(WireClient client) {
    this.client = client;
  }

  static HostileClient session(ListenAddress address, String name, byte[] token)
      throws IOException {
    return new HostileClient(WireClient.session(address, name, token));
  }

  /** Returns the outcome of an attempt. */
  String attempt(String what) throws IOException {
    try {
      return ask(HostileBackend.TRY, what.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new IOException("the worker ended at: " + what, e);
    }
  }

  /** Returns the worker's process. */
  String process() throws IOException {
    return attempt("see /proc").split(" ", 2)[0];
  }

  /** Returns the user that the worker is on the host, which only the host's processes see. */
  int user() throws IOException {
    String process = process();
    for (String line : Files.readAllLines(Path.of("/proc", process, "status"))) {
      if (line.startsWith("Uid:")) {
        return Integer.parseInt(line.split("\\s+", 3)[1]);
      }
    }
    throw new IOException("process " + process + " has no user");
  }

  /** Has the worker send a packet to the server. */
  String say(byte[] packet) throws IOException {
    return ask(HostileBackend.SAY, packet);
  }

  private String ask(int function, byte[] argument) throws IOException {
    byte[] payload =
        WireClient.little(4 + argument.length + 7 & ~7)
            .putInt(argument.length)
            .put(argument)
            .array();
    byte[] answer = client.call(function, 1, payload).payload().array();
    int length = ByteBuffer.wrap(answer).order(java.nio.ByteOrder.LITTLE_ENDIAN).getInt();
    return new String(answer, 4, length, StandardCharsets.UTF_8);
  }

  @Override
  public void close() throws IOException {
    client.close();
  }
}
