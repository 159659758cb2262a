package graft.remoting.server.exchange;

import graft.remoting.server.system.Bytes;
import java.nio.ByteBuffer;

/**
 * A handle that a session exports to other sessions of its client: the driver's own handle, which
 * no client sees. For physical memory and pools a descriptor is sent instead.
 *
 * @param kind the kind of object
 * @param size the bytes of memory, 0 for an event
 * @param handle the driver's handle, empty if there is a descriptor
 */
public record SharedHandle(Kind kind, long size, Bytes handle) {
  /** The bytes of the driver's handles, and of those that clients get in their place. */
  public static final int BYTES = 64;

  /** The kind of object that a handle names. */
  public enum Kind {
    /** Memory of cuMemAlloc. */
    MEMORY('M'),
    /** An event. */
    EVENT('E'),
    /** Memory of cuMemCreate. */
    PHYSICAL('P'),
    /** A pool. */
    POOL('Q'),
    /** Memory that was allocated from a pool. */
    OF_POOL('A');

    private final char letter;

    Kind(char letter) {
      this.letter = letter;
    }

    private static Kind of(char letter) {
      for (Kind kind : values()) {
        if (kind.letter == letter) {
          return kind;
        }
      }
      throw new IllegalArgumentException("unknown kind of shared handle: " + letter);
    }
  }

  public byte[] encode() {
    byte[] bytes = handle.array();
    return ByteBuffer.allocate(Character.BYTES + Long.BYTES + bytes.length)
        .putChar(kind.letter)
        .putLong(size)
        .put(bytes)
        .array();
  }

  public static SharedHandle decode(byte[] encoded) {
    ByteBuffer buffer = ByteBuffer.wrap(encoded);
    Kind kind = Kind.of(buffer.getChar());
    long size = buffer.getLong();
    byte[] handle = new byte[buffer.remaining()];
    buffer.get(handle);
    return new SharedHandle(kind, size, Bytes.of(handle));
  }
}
