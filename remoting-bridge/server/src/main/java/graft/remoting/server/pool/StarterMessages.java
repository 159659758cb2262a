package graft.remoting.server.pool;

import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.system.Bytes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * The requests to graft-starter and its answers; {@code jail/starter/protocol.h} describes them.
 */
final class StarterMessages {
  static final int START = 1;
  static final int END = 2;
  static final int READY = 4;
  static final int SHARE = 5;
  static final int GRANT = 6;

  static final int HELLO = 1;
  static final int STARTED = 2;
  static final int REFUSED = 3;
  static final int ENDED = 4;
  static final int DONE = 5;
  static final int GRANTED = 6;

  /** The largest answer in bytes. */
  static final int MOST = 24 + 4096;

  private static final int MAGIC = 0x31545347;
  private static final int REQUEST = 128;
  private static final int NAME = 64;
  private static final int HEAD = 24;
  private static final int ADDRESSES = 28;
  private static final int GUEST = 40;
  private static final int CONNECTIONS = 48;

  private StarterMessages() {}

  /** Returns a request that concerns one worker, or none if the number is 0. */
  static byte[] request(int type, int worker) {
    return buffer(type).putInt(worker).array();
  }

  /** Returns the request that a worker shares the folder of a guest, whose number is positive. */
  static byte[] share(int worker, long guest) {
    return buffer(SHARE).putInt(worker).position(GUEST).putLong(guest).array();
  }

  /** Returns the request for a worker of that kind. */
  static byte[] start(WorkerKind kind) throws IOException {
    byte[] request =
        buffer(START)
            .putInt(0)
            .putInt(kind.device().index().orElse(-1))
            .putInt(kind.usesAdapter() ? 1 : 0)
            .position(ADDRESSES)
            .putInt(kind.addresses())
            .position(CONNECTIONS)
            .putInt(kind.connections())
            .array();
    return named(request, kind.device().kind());
  }

  /** Returns the request for pages and an event channel for a domain of Xen. */
  static byte[] grant(String domain) throws IOException {
    return named(buffer(GRANT).array(), domain);
  }

  private static byte[] named(byte[] request, String name) throws IOException {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    if (bytes.length >= NAME) {
      throw new IOException("the name is too long for graft-starter: " + name);
    }
    System.arraycopy(bytes, 0, request, REQUEST - NAME, bytes.length);
    return request;
  }

  private static ByteBuffer buffer(int type) {
    return ByteBuffer.allocate(REQUEST).order(ByteOrder.LITTLE_ENDIAN).putInt(MAGIC).putInt(type);
  }

  /**
   * An answer.
   *
   * @param worker the worker's number, which is not its process id
   * @param status as waitpid(2) gives it
   * @param data what follows the head; a text, except in {@code GRANTED}
   * @param fds the descriptors that came with it, which belong to the receiver
   */
  record Answer(int type, int worker, int pid, int status, Bytes data, List<Integer> fds) {
    String text() {
      return new String(data.array(), StandardCharsets.UTF_8);
    }

    /** Returns the exit status, or 128 and the signal's number if a signal ended the process. */
    int exitStatus() {
      int signal = status & 0x7F;
      return signal == 0 ? status >> 8 & 0xFF : 128 + signal;
    }
  }

  static Answer answer(byte[] bytes, List<Integer> fds) throws IOException {
    ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    if (bytes.length < HEAD || in.getInt() != MAGIC) {
      throw new IOException("graft-starter is of another version");
    }
    int type = in.getInt();
    int worker = in.getInt();
    int pid = in.getInt();
    int status = in.getInt();
    if (in.getInt() != bytes.length - HEAD) {
      throw new IOException("an answer of graft-starter is malformed");
    }
    Bytes data = Bytes.of(Arrays.copyOfRange(bytes, HEAD, bytes.length));
    return new Answer(type, worker, pid, status, data, fds);
  }
}
