package graft.remoting.server.control;

import graft.remoting.server.accept.GuestMemory;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.system.Bytes;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** What the server and a worker say to each other over their private socket, one packet each. */
public sealed interface ControlMessage {
  /** The longest packet. */
  int MAX = 16 << 10;

  /** From a worker: its device is open, it can take a session. */
  record Ready(String device) implements ControlMessage {}

  /** From a worker: it cannot work, and why. It exits. */
  record Failed(String reason) implements ControlMessage {}

  /** From a worker: what its session has used so far. */
  record Used(long bytesIn, long bytesOut, long calls, long memory) implements ControlMessage {}

  /** From a worker: its session is over. It exits. */
  record Ended(String reason) implements ControlMessage {}

  /**
   * To a worker, with the client's descriptor and those of the memory that its guest shares: serve
   * this client, beginning with the WELCOME.
   *
   * @param memoryLimit bytes of device memory, 0 for no limit
   * @param channel the HELLO's word for what carries the records
   * @param shared what has to be known of memory that is shared, see {@link GuestMemory}
   * @param problem why there is no such memory, empty if there is
   */
  record StartSession(
      long id,
      String name,
      long memoryLimit,
      int channel,
      Bytes shared,
      String problem,
      Bytes welcome)
      implements ControlMessage {}

  /** To a worker, with a descriptor: one more connection of its session. */
  record AddLane(int lane, Bytes welcome) implements ControlMessage {}

  /** From a worker: what its session shares, with the descriptor of physical memory. */
  record Give(Bytes token, Bytes handle) implements ControlMessage {}

  /** From a worker: is there a handle of this token? */
  record Find(Bytes token) implements ControlMessage {}

  /**
   * To a worker, the answer to either: the handle, and its descriptor if a found one has one; empty
   * when there is none or no place for it.
   */
  record Shared(Bytes handle) implements ControlMessage {}

  /** From a worker: what code is kept for its session's name? */
  record KnownCode() implements ControlMessage {}

  /** From a worker, with a descriptor: code to keep. */
  record KeepCode(Bytes hash) implements ControlMessage {}

  /** From a worker: the descriptor of that code. */
  record FindCode(Bytes hash) implements ControlMessage {}

  /** The packet. */
  default byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      if (this instanceof Ready ready) {
        out.writeByte('R');
        out.writeUTF(ready.device());
      } else if (this instanceof Failed failed) {
        out.writeByte('F');
        out.writeUTF(clip(failed.reason()));
      } else if (this instanceof Used used) {
        out.writeByte('U');
        out.writeLong(used.bytesIn());
        out.writeLong(used.bytesOut());
        out.writeLong(used.calls());
        out.writeLong(used.memory());
      } else if (this instanceof Ended ended) {
        out.writeByte('E');
        out.writeUTF(clip(ended.reason()));
      } else if (this instanceof StartSession start) {
        out.writeByte('S');
        out.writeLong(start.id());
        out.writeUTF(start.name());
        out.writeLong(start.memoryLimit());
        out.writeInt(start.channel());
        write(out, start.shared());
        out.writeUTF(clip(start.problem()));
        out.write(start.welcome().array());
      } else if (this instanceof AddLane lane) {
        out.writeByte('L');
        out.writeInt(lane.lane());
        out.write(lane.welcome().array());
      } else if (this instanceof Give give) {
        out.writeByte('G');
        write(out, give.token());
        write(out, give.handle());
      } else if (this instanceof Find find) {
        out.writeByte('?');
        write(out, find.token());
      } else if (this instanceof KnownCode) {
        out.writeByte('k');
      } else if (this instanceof KeepCode keep) {
        out.writeByte('c');
        write(out, keep.hash());
      } else if (this instanceof FindCode find) {
        out.writeByte('f');
        write(out, find.hash());
      } else if (this instanceof Shared shared) {
        out.writeByte('H');
        write(out, shared.handle());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static void write(DataOutputStream out, Bytes bytes) throws IOException {
    byte[] array = bytes.array();
    out.writeShort(array.length);
    out.write(array);
  }

  private static Bytes read(DataInputStream in) throws IOException {
    return Bytes.of(in.readNBytes(in.readUnsignedShort()));
  }

  private static String clip(String text) {
    return text.length() <= 1000 ? text : text.substring(0, 1000);
  }

  /** Text for the log and for people, from a worker that may be hostile. */
  private static String text(DataInputStream in) throws IOException {
    return WorkerLog.printable(clip(in.readUTF()));
  }

  private static long count(DataInputStream in) throws IOException {
    long count = in.readLong();
    if (count < 0) {
      throw new IOException("a count of " + count);
    }
    return count;
  }

  /** Reads a packet. */
  static ControlMessage decode(byte[] packet) throws IOException {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(packet))) {
      byte kind = in.readByte();
      return switch (kind) {
        case 'R' -> new Ready(text(in));
        case 'F' -> new Failed(text(in));
        case 'U' -> new Used(count(in), count(in), count(in), count(in));
        case 'E' -> new Ended(text(in));
        case 'S' ->
            new StartSession(
                in.readLong(),
                in.readUTF(),
                in.readLong(),
                in.readInt(),
                read(in),
                in.readUTF(),
                Bytes.of(in.readNBytes(HandshakeMessages.WELCOME)));
        case 'L' -> new AddLane(in.readInt(), Bytes.of(in.readNBytes(HandshakeMessages.WELCOME)));
        case 'G' -> new Give(read(in), read(in));
        case '?' -> new Find(read(in));
        case 'k' -> new KnownCode();
        case 'c' -> new KeepCode(read(in));
        case 'f' -> new FindCode(read(in));
        case 'H' -> new Shared(read(in));
        default -> throw new IOException("a control message of kind " + kind);
      };
    }
  }
}
