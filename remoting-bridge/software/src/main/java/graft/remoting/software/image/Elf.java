package graft.remoting.software.image;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Inspects cubins, which are 64-bit little-endian ELF files. */
final class Elf {
  private Elf() {}

  /**
   * Returns whether there is a section {@code .text.<kernel>}; a damaged file counts as having one.
   */
  static boolean hasFunctions(byte[] elf) {
    try {
      ByteBuffer b = ByteBuffer.wrap(elf).order(ByteOrder.LITTLE_ENDIAN);
      int sections = (int) b.getLong(40);
      int size = b.getShort(58) & 0xffff;
      int count = b.getShort(60) & 0xffff;
      int names = (int) b.getLong(sections + size * (b.getShort(62) & 0xffff) + 24);
      for (int i = 0; i < count; i++) {
        int name = names + b.getInt(sections + i * size);
        String start =
            new String(elf, name, Math.min(6, elf.length - name), StandardCharsets.ISO_8859_1);
        if (start.equals(".text.")) {
          return true;
        }
      }
      return false;
    } catch (IndexOutOfBoundsException e) {
      return true;
    }
  }
}
