package graft.remoting.server.pool;

import graft.remoting.server.control.WorkerKind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The requests to graft-starter and its answers; {@code jail/starter/protocol.h} describes them.
 */
final class StarterMessages {
  static final int START = 1;
  static final int END = 2;
  static final int READY = 4;
  static final int SHARE = 5;

  static final int HELLO = 1;
  static final int STARTED = 2;
  static final int REFUSED = 3;
  static final int ENDED = 4;
  static final int DONE = 5;

  /** The largest answer in bytes. */
  static final int MOST = 24 + 4096;

  private static final int MAGIC = 0x31545347;
  private static final int REQUEST = 128;
  private static final int NAME = 64;
  private static final int HEAD = 24;
  private static final int ADDRESSES = 28;
  private static final int GUEST = 40;

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
    byte[] name = kind.device().kind().getBytes(StandardCharsets.US_ASCII);
    if (name.length >= NAME) {
      throw new IOException("the device's name is too long: " + kind.device());
    }
    byte[] request =
        buffer(START)
            .putInt(0)
            .putInt(kind.device().index().orElse(-1))
            .putInt(kind.usesAdapter() ? 1 : 0)
            .position(ADDRESSES)
            .putInt(kind.addresses())
            .array();
    System.arraycopy(name, 0, request, REQUEST - NAME, name.length);
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
   */
  record Answer(int type, int worker, int pid, int status, String text) {
    /** Returns the exit status, or 128 and the signal's number if a signal ended the process. */
    int exitStatus() {
      int signal = status & 0x7F;
      return signal == 0 ? status >> 8 & 0xFF : 128 + signal;
    }
  }

  static Answer answer(byte[] bytes) throws IOException {
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
    String text = new String(bytes, HEAD, bytes.length - HEAD, StandardCharsets.UTF_8);
    return new Answer(type, worker, pid, status, text);
  }
}
