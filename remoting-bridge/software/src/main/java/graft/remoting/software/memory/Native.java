package graft.remoting.software.memory;

import java.lang.reflect.Field;
import sun.misc.Unsafe;

/** Access to memory by its real address, without any checks. */
public final class Native {
  /** The JVM's unchecked memory access. */
  public static final Unsafe UNSAFE = unsafe();

  private Native() {}

  private static Unsafe unsafe() {
    try {
      Field field = Unsafe.class.getDeclaredField("theUnsafe");
      field.setAccessible(true);
      return (Unsafe) field.get(null);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "This Java runtime gives no access to native memory (sun.misc.Unsafe)", e);
    }
  }

  /** Copies bytes between addresses; the ranges may overlap. */
  public static void copy(long from, long to, long bytes) {
    UNSAFE.copyMemory(from, to, bytes);
  }

  /** The text at an address up to its zero byte. */
  public static String text(long address) {
    int length = 0;
    while (UNSAFE.getByte(address + length) != 0) {
      length++;
    }
    return new String(bytes(address, length), java.nio.charset.StandardCharsets.UTF_8);
  }

  /** A copy of the bytes at an address. */
  public static byte[] bytes(long address, int length) {
    byte[] bytes = new byte[length];
    UNSAFE.copyMemory(null, address, bytes, Unsafe.ARRAY_BYTE_BASE_OFFSET, length);
    return bytes;
  }

  /** Writes bytes to an address. */
  public static void put(long address, byte[] bytes, int length) {
    UNSAFE.copyMemory(bytes, Unsafe.ARRAY_BYTE_BASE_OFFSET, null, address, length);
  }
}
