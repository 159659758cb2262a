package graft.remoting.server.system;

import graft.remoting.device.Memory;

/** A small block of native memory, zeroed, for a try-with-resources block. */
public final class Scratch implements AutoCloseable {
  private final long address;

  public Scratch(long bytes) {
    address = Memory.allocate(bytes);
    Memory.fill(address, bytes, (byte) 0);
  }

  /** Copies {@code bytes} to native memory. */
  public static Scratch of(byte[] bytes) {
    Scratch scratch = new Scratch(Math.max(1, bytes.length));
    Memory.write(scratch.address, bytes, 0, bytes.length);
    return scratch;
  }

  public long address() {
    return address;
  }

  /** Returns the {@code length} bytes at {@code offset}. */
  public byte[] bytes(long offset, int length) {
    return bytesAt(address + offset, length);
  }

  /** Returns the {@code length} bytes at {@code address}. */
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
