package graft.remoting.software;

import static graft.remoting.software.memory.Native.UNSAFE;
import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.device.Extent;
import graft.remoting.software.object.GraphNode;

/** Fills of rows. */
final class Fills {
  private final Ranges ranges;

  Fills(Ranges ranges) {
    this.ranges = ranges;
  }

  /** Fills rows with a value of 1, 2 or 4 bytes. */
  Runnable fill(long address, long pitch, int value, int size, long width, long height) {
    Runnable body = captured(address, pitch, value, size, width, height);
    ranges.checkDevice(address, Extent.rows(pitch, Extent.times(width, size), height));
    return body;
  }

  /** The same for a capture, which takes any address. */
  Runnable captured(long address, long pitch, int value, int size, long width, long height) {
    require((address & (size - 1)) == 0, "address not aligned to the element");
    long bytes = Extent.rows(pitch, Extent.times(width, size), height);
    require(bytes >= 0, "more than there are addresses");
    if (bytes == 0) {
      return () -> {};
    }
    return new GraphNode.Fill(
        () -> ranges.isKnown(address, bytes),
        ranges.ifKnown(
            address,
            bytes,
            () -> {
              for (long y = 0; y < height; y++) {
                fillRow(address + y * pitch, value, size, width);
              }
            }));
  }

  private static void fillRow(long address, int value, int size, long width) {
    if (size == 1) {
      UNSAFE.setMemory(address, width, (byte) value);
      return;
    }
    for (long x = 0; x < width; x++) {
      if (size == 2) {
        UNSAFE.putShort(address + 2 * x, (short) value);
      } else {
        UNSAFE.putInt(address + 4 * x, value);
      }
    }
  }
}
