package graft.remoting.software.image;

import graft.remoting.software.memory.Native;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * Reads module images by their address.
 *
 * <p>A fat binary starts with a 16-byte header (u32 0xBA55ED50, u16 version, u16 header size, u64
 * size of the rest); its entries are described at {@link Fatbin}. An ELF image is a cubin. Any
 * other data is read as PTX text that ends with a zero byte.
 */
public final class Image {
  private static final int WRAPPER_MAGIC = 0x466243B1;
  private static final int ELF_MAGIC = 0x464C457F;

  /** PTX of an image without any code: a module without kernels. */
  private static final String EMPTY = ".version 7.0\n.target sm_70\n.address_size 64\n";

  /** The start of PTX text (PTX ISA, "PTX Module Directives"). */
  private static final Pattern HEAD =
      Pattern.compile("(?m)^\\s*\\.(version|target|address_size)\\b.*$");

  private Image() {}

  /**
   * Returns the PTX text of an image.
   *
   * @param address the address of the image
   * @param architecture the device's compute capability as 10 * major + minor; newer PTX is refused
   * @throws ImageException if the image contains no PTX that the device can run
   */
  public static String ptx(long address, int architecture) {
    int magic = Native.UNSAFE.getInt(address);
    if (magic == WRAPPER_MAGIC) {
      return wrapper(address, architecture);
    }
    if (magic == Fatbin.MAGIC) {
      return fatbin(address, architecture);
    }
    if (magic == ELF_MAGIC) {
      return cubin(address);
    }
    return Native.text(address);
  }

  /** {@code __fatBinC_Wrapper_t}: u32 magic, u32 version, the image, and in version 2 others. */
  private static String wrapper(long address, int architecture) {
    String linked = ptx(Native.UNSAFE.getLong(address + 8), architecture);
    return Native.UNSAFE.getInt(address + 4) == 2 && linked.equals(EMPTY)
        ? link(Native.UNSAFE.getLong(address + 16), architecture)
        : linked;
  }

  /**
   * Joins the images of a zero-terminated list into one module. nvcc's {@code -rdc=true} leaves
   * such a list to be linked. Symbols that are visible outside a file have unique names, and nvcc
   * makes the other names unique, so that the files can follow each other under the header of the
   * first. An image without PTX is left out: nvcc adds the library of dynamic parallelism even if
   * nothing needs it.
   */
  private static String link(long list, int architecture) {
    StringBuilder linked = new StringBuilder();
    ImageException without = null;
    for (long at = list; Native.UNSAFE.getLong(at) != 0; at += Long.BYTES) {
      try {
        String text = ptx(Native.UNSAFE.getLong(at), architecture);
        linked.append(linked.isEmpty() ? text : HEAD.matcher(text).replaceAll("")).append('\n');
      } catch (ImageException e) {
        without = e;
      }
    }
    if (linked.isEmpty() && without != null) {
      throw without;
    }
    return linked.isEmpty() ? EMPTY : linked.toString();
  }

  private static String fatbin(long address, int architecture) {
    int header = Native.UNSAFE.getShort(address + 6) & 0xffff;
    long size = Native.UNSAFE.getLong(address + 8);
    if (size < 0 || size > Integer.MAX_VALUE - 64 || header < 16) {
      throw new ImageException(ImageException.INVALID_IMAGE, "fat binary of " + size + " bytes");
    }
    Fatbin fatbin = Fatbin.read(Native.bytes(address + header, (int) size));
    byte[] text = fatbin.ptx(architecture);
    if (text != null) {
      int length = text.length;
      while (length > 0 && text[length - 1] == 0) {
        length--;
      }
      return new String(text, 0, length, StandardCharsets.UTF_8);
    }
    if (fatbin.isEmpty()) {
      return EMPTY;
    }
    throw new ImageException(
        ImageException.NO_BINARY_FOR_GPU,
        "the fat binary holds "
            + fatbin.describe()
            + ", but the software device runs PTX of compute capability "
            + architecture / 10
            + "."
            + architecture % 10
            + " and below: compile with nvcc -gencode arch=compute_75,code=compute_75 (or without"
            + " -arch and -gencode, which keeps PTX too)");
  }

  /**
   * Refuses a cubin, which contains only machine code. A cubin without functions, as nvcc's device
   * linker adds it, is accepted.
   */
  private static String cubin(long address) {
    long end =
        Native.UNSAFE.getLong(address + 40) + 64L * (Native.UNSAFE.getShort(address + 60) & 0xffff);
    if (end <= 64 || end > Integer.MAX_VALUE) {
      throw new ImageException(ImageException.INVALID_IMAGE, "ELF image without sections");
    }
    if (Elf.hasFunctions(Native.bytes(address, (int) end))) {
      throw new ImageException(
          ImageException.NO_BINARY_FOR_GPU,
          "the image is a cubin (machine code of a GPU) without PTX, which the software device cannot"
              + " run: compile with nvcc -gencode arch=compute_75,code=compute_75 to keep PTX");
    }
    return EMPTY;
  }
}
