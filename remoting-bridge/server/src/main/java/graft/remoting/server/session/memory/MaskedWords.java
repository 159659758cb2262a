package graft.remoting.server.session.memory;

import graft.remoting.device.Memory;

/** Writes bytes that a mask marks, whatever happens to their neighbours meanwhile. */
final class MaskedWords {
  private static final int WHOLE = 0xff;

  private MaskedWords() {}

  /**
   * Writes the marked bytes of whole words. What is marked of a word appears at once.
   *
   * @param from the bytes
   * @param mask a bit for each of them: a byte for each word of eight
   * @param to where they go: the begin of a word
   * @param bytes how many, marked or not: whole words
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

  /** Eight ones for each bit. */
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
