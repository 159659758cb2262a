package graft.remoting.server.session.memory;

import graft.remoting.device.Memory;

/** The sizes of arrays and pitched memory. A size that overflows is the largest number. */
final class ArraySize {
  private ArraySize() {}

  /** Returns the bytes of the array that a CUDA_ARRAY_DESCRIPTOR describes, 0 for NULL. */
  static long of2d(long descriptor) {
    return descriptor == 0 ? 0 : bytes(descriptor, 1, descriptor + 16);
  }

  /** Returns the bytes of the array that a CUDA_ARRAY3D_DESCRIPTOR describes, 0 for NULL. */
  static long of3d(long descriptor) {
    return descriptor == 0
        ? 0
        : bytes(descriptor, Memory.getLong(descriptor + 16), descriptor + 24);
  }

  /** Returns an upper bound for the bytes of a mipmapped array. */
  static long ofMipmapped(long descriptor, int levels) {
    long largest = of3d(descriptor);
    // The smaller levels together are less than a third of the largest level's size.
    return levels > 1 ? largest + largest / 3 : largest;
  }

  /** Returns the product of two sizes. */
  static long product(long a, long b) {
    return Math.multiplyHigh(a, b) == 0 && a * b >= 0 ? a * b : Long.MAX_VALUE;
  }

  /** In both descriptors width and height come first; format and channels lie at {@code format}. */
  private static long bytes(long descriptor, long depth, long format) {
    long elements =
        product(Memory.getLong(descriptor), Math.max(1, Memory.getLong(descriptor + 8)));
    elements = product(elements, Math.max(1, depth));
    int element =
        switch (Memory.getInt(format)) {
          case 0x01, 0x08 -> 1;
          case 0x02, 0x09, 0x10 -> 2;
          default -> 4;
        };
    return product(elements, (long) element * Math.max(1, Memory.getInt(format + 4)));
  }
}
