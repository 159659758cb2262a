package graft.remoting.device;

import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import sun.misc.Unsafe;

/**
 * Memory of this process by address, as CUDA's C interface reads and writes it. Nothing is checked,
 * and a wrong address kills the process, so that callers check lengths first.
 */
@SuppressWarnings("removal")
public final class Memory {
  private static final Unsafe UNSAFE = unsafe();

  private Memory() {}

  private static Unsafe unsafe() {
    try {
      Field field = Unsafe.class.getDeclaredField("theUnsafe");
      field.setAccessible(true);
      return (Unsafe) field.get(null);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Allocates native memory; its contents are undefined. */
  public static long allocate(long bytes) {
    return UNSAFE.allocateMemory(bytes);
  }

  /** Frees memory of {@link #allocate}. */
  public static void free(long address) {
    UNSAFE.freeMemory(address);
  }

  public static byte getByte(long address) {
    return UNSAFE.getByte(address);
  }

  public static void putByte(long address, byte value) {
    UNSAFE.putByte(address, value);
  }

  public static short getShort(long address) {
    return UNSAFE.getShort(address);
  }

  public static void putShort(long address, short value) {
    UNSAFE.putShort(address, value);
  }

  public static int getInt(long address) {
    return UNSAFE.getInt(address);
  }

  public static void putInt(long address, int value) {
    UNSAFE.putInt(address, value);
  }

  public static long getLong(long address) {
    return UNSAFE.getLong(address);
  }

  public static void putLong(long address, long value) {
    UNSAFE.putLong(address, value);
  }

  /** Replaces a word if it has the expected value, atomically for all processors and devices. */
  public static boolean compareAndSetLong(long address, long expected, long value) {
    return UNSAFE.compareAndSwapLong(null, address, expected, value);
  }

  public static float getFloat(long address) {
    return UNSAFE.getFloat(address);
  }

  public static void putFloat(long address, float value) {
    UNSAFE.putFloat(address, value);
  }

  /** Reads an int; later reads and writes are not reordered before this read. */
  public static int getIntVolatile(long address) {
    return UNSAFE.getIntVolatile(null, address);
  }

  public static void putIntVolatile(long address, int value) {
    UNSAFE.putIntVolatile(null, address, value);
  }

  public static long getLongVolatile(long address) {
    return UNSAFE.getLongVolatile(null, address);
  }

  public static void putLongVolatile(long address, long value) {
    UNSAFE.putLongVolatile(null, address, value);
  }

  public static boolean compareAndSwapInt(long address, int expected, int value) {
    return UNSAFE.compareAndSwapInt(null, address, expected, value);
  }

  public static boolean compareAndSwapLong(long address, long expected, long value) {
    return UNSAFE.compareAndSwapLong(null, address, expected, value);
  }

  public static void copy(long source, long target, long bytes) {
    UNSAFE.copyMemory(source, target, bytes);
  }

  public static void fill(long address, long bytes, byte value) {
    UNSAFE.setMemory(address, bytes, value);
  }

  /** Copies native memory into an array. */
  public static void read(long address, byte[] target, int offset, int length) {
    UNSAFE.copyMemory(null, address, target, Unsafe.ARRAY_BYTE_BASE_OFFSET + offset, length);
  }

  /** Copies an array into native memory. */
  public static void write(long address, byte[] source, int offset, int length) {
    UNSAFE.copyMemory(source, Unsafe.ARRAY_BYTE_BASE_OFFSET + offset, null, address, length);
  }

  /**
   * Returns a string that ends with a zero byte.
   *
   * @param limit the number of bytes to search for the zero
   */
  public static String string(long address, int limit) {
    int length = 0;
    while (length < limit && getByte(address + length) != 0) {
      length++;
    }
    byte[] bytes = new byte[length];
    read(address, bytes, 0, length);
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
