package graft.remoting.server.system;

import graft.remoting.device.Memory;

/** A small chunk of native memory for the time of a block, all zero at first. */
public final class Scratch implements AutoCloseable {
  private final long address;

  public Scratch(long bytes) {
    address = Memory.allocate(bytes);
    Memory.fill(address, bytes, (byte) 0);
  }

  /** A copy of {@code bytes} in native memory. */
  public static Scratch of(byte[] bytes) {
    Scratch scratch = new Scratch(Math.max(1, bytes.length));
    Memory.write(scratch.address, bytes, 0, bytes.length);
    return scratch;
  }

  public long address() {
    return address;
  }

  /** The {@code length} bytes at {@code offset}. */
  public byte[] bytes(long offset, int length) {
    return bytesAt(address + offset, length);
  }

  /** The {@code length} bytes at {@code address}. */
  public static byte[] bytesAt(long address, int length) {
    byte[] bytes = new byte[length];
    Memory.read(address, bytes, 0, length);
    return bytes;
  }

  @Override
  public void close() {
    Memory.free(address);
  }
}
