package graft.remoting.server.share;

import graft.common.grants.Share;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * What servers of one GPU say to each other, one packet a message: the server that arbitrates, and
 * those that follow it. The first byte is the kind; numbers are big-endian, texts as {@link
 * DataOutputStream#writeUTF} has them.
 */
sealed interface ArbiterMessage {
  /** The longest packet. */
  int MAX = 1024;

  /** The longest name of a server or guest, in characters. */
  int LONGEST_NAME = 256;

  /** The version of these messages. Servers of different versions do not share an arbiter. */
  int VERSION = 1;

  /**
   * From a follower, first: who it is.
   *
   * @param server a name that the server has again after its restart, and no other one has
   */
  record Hello(int version, String server) implements ArbiterMessage {}

  /** From a follower: whether any of its guests has a share, so that sessions take turns. */
  record Turns(boolean areTaken) implements ArbiterMessage {}

  /**
   * From a follower, with the descriptor of the session's page: a session begins, or is there
   * already.
   *
   * @param session its number, which no other session of the follower has
   * @param watchdog the longest overrun, in nanoseconds; 0 for any
   */
  record Open(long session, String guest, Share share, long watchdog) implements ArbiterMessage {}

  /** From a follower: a guest has another share. */
  record Change(String guest, Share share) implements ArbiterMessage {}

  /** From a follower: a session has ended. */
  record End(long session) implements ArbiterMessage {}

  /** From a follower: a session waits for its lease. */
  record Ask() implements ArbiterMessage {}

  /** To a follower: a session has its lease, or gets it soon. */
  record Wake(long session) implements ArbiterMessage {}

  /** To a follower: the work of a session has gone on for longer than its watchdog allows. */
  record Overrun(long session) implements ArbiterMessage {}

  /** From a follower, which asks whether the arbiter is alive, and the answer; also to a hello. */
  record Alive() implements ArbiterMessage {}

  /** Returns the packet. */
  default byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      write(new DataOutputStream(bytes));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private void write(DataOutputStream out) throws IOException {
    if (this instanceof Hello hello) {
      out.writeByte('H');
      out.writeByte(hello.version);
      out.writeUTF(hello.server);
    } else if (this instanceof Turns turns) {
      out.writeByte('T');
      out.writeBoolean(turns.areTaken);
    } else if (this instanceof Open open) {
      out.writeByte('O');
      out.writeLong(open.session);
      out.writeUTF(open.guest);
      write(out, open.share);
      out.writeLong(open.watchdog);
    } else if (this instanceof Change change) {
      out.writeByte('C');
      out.writeUTF(change.guest);
      write(out, change.share);
    } else if (this instanceof End end) {
      out.writeByte('E');
      out.writeLong(end.session);
    } else if (this instanceof Wake wake) {
      out.writeByte('W');
      out.writeLong(wake.session);
    } else if (this instanceof Overrun overrun) {
      out.writeByte('X');
      out.writeLong(overrun.session);
    } else {
      out.writeByte(this instanceof Ask ? 'A' : 'L');
    }
  }

  private static void write(DataOutputStream out, Share share) throws IOException {
    out.writeUTF(share.type().name());
    out.writeByte(share.percent());
    out.writeUTF(share.priority().name());
  }

  /**
   * Reads a packet.
   *
   * @throws IOException if it is no such message
   */
  static ArbiterMessage decode(byte[] packet) throws IOException {
    try {
      return read(new DataInputStream(new ByteArrayInputStream(packet)));
    } catch (EOFException e) {
      throw new IOException("a message is too short", e);
    }
  }

  private static ArbiterMessage read(DataInputStream in) throws IOException {
    int kind = in.readByte();
    ArbiterMessage message =
        switch (kind) {
          case 'H' -> new Hello(in.readUnsignedByte(), name(in));
          case 'T' -> new Turns(in.readBoolean());
          case 'O' -> new Open(in.readLong(), name(in), share(in), in.readLong());
          case 'C' -> new Change(name(in), share(in));
          case 'E' -> new End(in.readLong());
          case 'A' -> new Ask();
          case 'W' -> new Wake(in.readLong());
          case 'X' -> new Overrun(in.readLong());
          case 'L' -> new Alive();
          default -> throw new IOException("a message of unknown kind " + kind);
        };
    if (in.available() > 0) {
      throw new IOException("a message is too long");
    }
    return message;
  }

  private static String name(DataInputStream in) throws IOException {
    String name = in.readUTF();
    if (name.length() > LONGEST_NAME) {
      throw new IOException("a name of " + name.length() + " characters is too long");
    }
    return name;
  }

  private static Share share(DataInputStream in) throws IOException {
    try {
      return new Share(
          Share.Type.valueOf(in.readUTF()),
          in.readUnsignedByte(),
          Share.Priority.valueOf(in.readUTF()));
    } catch (IllegalArgumentException e) {
      throw new IOException("a message has no valid share: " + e.getMessage(), e);
    }
  }
}
