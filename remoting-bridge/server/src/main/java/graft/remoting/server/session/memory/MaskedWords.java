package graft.remoting.server.session.memory;

import graft.remoting.device.Memory;

/**
 * Writes the bytes that a mask selects without disturbing their neighbours, which the device may be
 * writing at the same time.
 */
final class MaskedWords {
  private static final int WHOLE = 0xff;

  private MaskedWords() {}

  /**
   * Writes the selected bytes of whole words. The selected bytes of one word appear at once.
   *
   * @param from the bytes
   * @param mask one bit for each byte, so one byte for each word of eight
   * @param to the destination, the start of a word
   * @param bytes the number of bytes, selected or not, a multiple of the word size
   */
  static void write(long from, long mask, long to, long bytes) {
    for (long at = 0; at < bytes; at += Long.BYTES) {
      int marked = Memory.getByte(mask + at / Long.BYTES) & WHOLE;
      if (marked == WHOLE) {
        Memory.putLong(to + at, Memory.getLong(from + at));
      } else if (marked != 0) {
        merge(to + at, Memory.getLong(from + at), bits(marked));
      }
    }
  }

  private static void merge(long address, long wanted, long bits) {
    long before;
    do {
      before = Memory.getLong(address);
    } while (!Memory.compareAndSetLong(address, before, (before & ~bits) | (wanted & bits)));
  }

  /** Expands each bit to eight equal bits. */
  private static long bits(int marked) {
    long bits = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      if ((marked & (1 << i)) != 0) {
        bits |= 0xffL << (Byte.SIZE * i);
      }
    }
    return bits;
  }
}
