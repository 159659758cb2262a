package graft.remoting.server;

import java.lang.reflect.Field;
import sun.misc.Unsafe;

/**
 * Reads and writes native memory by address, in the byte order of the machine (little-endian on
 * every machine that Graft runs on).
 *
 * <p>Addresses are not checked: a wrong one ends the process. Whatever comes from a client is
 * checked against the record that holds it before it gets here. Unsafe is used because a record is
 * read at every CUDA call and it is the only access in Java 17 that compiles to a plain load.
 */
public final class NativeMemory {
  private static final Unsafe UNSAFE = unsafe();
  private static final long BYTES = Unsafe.ARRAY_BYTE_BASE_OFFSET;

  private NativeMemory() {}

  private static Unsafe unsafe() {
    try {
      Field field = Unsafe.class.getDeclaredField("theUnsafe");
      field.setAccessible(true);
      return (Unsafe) field.get(null);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Memory of {@code size} bytes, all zero, 16-byte aligned. Freed by {@link #free}. */
  public static long allocate(long size) {
    long address = UNSAFE.allocateMemory(size);
    UNSAFE.setMemory(address, size, (byte) 0);
    return address;
  }

  /**
   * Memory of {@code size} bytes whose pages are not touched before they are used. Freed by {@link
   * #free}.
   */
  public static long reserve(long size) {
    return UNSAFE.allocateMemory(size);
  }

  /** Frees memory from {@link #allocate} or {@link #reserve}; 0 is allowed. */
  public static void free(long address) {
    UNSAFE.freeMemory(address);
  }

  /** The byte at {@code address}. */
  public static byte getByte(long address) {
    return UNSAFE.getByte(address);
  }

  /** The two bytes at {@code address}. */
  public static short getShort(long address) {
    return UNSAFE.getShort(address);
  }

  /** The two bytes at {@code address} as an unsigned number. */
  public static int getUnsignedShort(long address) {
    return UNSAFE.getShort(address) & 0xFFFF;
  }

  /** The four bytes at {@code address}. */
  public static int getInt(long address) {
    return UNSAFE.getInt(address);
  }

  /** The eight bytes at {@code address}. */
  public static long getLong(long address) {
    return UNSAFE.getLong(address);
  }

  /** Writes one byte. */
  public static void putByte(long address, byte value) {
    UNSAFE.putByte(address, value);
  }

  /** Writes two bytes. */
  public static void putShort(long address, short value) {
    UNSAFE.putShort(address, value);
  }

  /** Writes four bytes. */
  public static void putInt(long address, int value) {
    UNSAFE.putInt(address, value);
  }

  /** Writes eight bytes. */
  public static void putLong(long address, long value) {
    UNSAFE.putLong(address, value);
  }

  /** Copies {@code length} bytes; the two ranges may overlap. */
  public static void copy(long from, long to, long length) {
    UNSAFE.copyMemory(from, to, length);
  }

  /** Sets {@code length} bytes to {@code value}. */
  public static void fill(long address, long length, byte value) {
    UNSAFE.setMemory(address, length, value);
  }

  /** The {@code length} bytes at {@code address}. */
  public static byte[] bytes(long address, int length) {
    byte[] bytes = new byte[length];
    UNSAFE.copyMemory(null, address, bytes, BYTES, length);
    return bytes;
  }

  /** Writes all of {@code bytes} at {@code address}. */
  public static void put(long address, byte[] bytes) {
    UNSAFE.copyMemory(bytes, BYTES, null, address, bytes.length);
  }
}
