package graft.remoting.server.session.memory;

import graft.remoting.device.Extent;
import graft.remoting.device.Memory;

/**
 * One side of CUDA_MEMCPY3D (driver API reference): an offset, a memory type, and a pointer for
 * each type. The check covers all bytes that the copy accesses, replaces the type UNIFIED, which
 * lets the driver guess, with a definite one, and sets the pointers that the type does not use to
 * 0.
 */
public final class CopySide {
  private static final int X = 0;
  private static final int Y = 8;
  private static final int Z = 16;
  private static final int TYPE = 32;
  private static final int HOST = 40;
  private static final int DEVICE = 48;
  private static final int ARRAY = 56;
  private static final int RESERVED = 64;
  private static final int PITCH = 72;
  private static final int HEIGHT = 80;

  // CUmemorytype.
  private static final int TYPE_HOST = 1;
  private static final int TYPE_DEVICE = 2;
  private static final int TYPE_ARRAY = 3;
  private static final int TYPE_UNIFIED = 4;

  private final AddressSpace space;
  private final long side;
  private final long extent;

  private CopySide(AddressSpace space, long side, long extent) {
    this.space = space;
    this.side = side;
    this.extent = extent;
  }

  /**
   * Checks one side and writes what the driver is to see.
   *
   * @param side the address of the side
   * @param extent the address of width, height and depth
   * @param packed whether host memory is densely packed bulk data of the record; otherwise it lies
   *     at an address that is also valid in this process
   * @return whether the copy may be made
   */
  public static boolean check(AddressSpace space, long side, long extent, boolean packed) {
    return new CopySide(space, side, extent).check(packed);
  }

  private long get(int field) {
    return Memory.getLong(side + field);
  }

  private void put(int field, long value) {
    Memory.putLong(side + field, value);
  }

  private boolean check(boolean packed) {
    int type = Memory.getInt(side + TYPE);
    long address = get(type == TYPE_HOST ? HOST : DEVICE);
    put(HOST, 0);
    put(DEVICE, 0);
    put(ARRAY, 0);
    put(RESERVED, 0);
    switch (type) {
      case TYPE_HOST -> {
        if (packed) {
          pack();
          return true;
        }
        put(HOST, address);
        return reaches() == 0 || space.holdsHost(address, reaches());
      }
      case TYPE_DEVICE, TYPE_UNIFIED -> {
        Memory.putInt(side + TYPE, TYPE_DEVICE);
        put(DEVICE, address);
        return space.holds(address, reaches());
      }
      default -> {
        return type == TYPE_ARRAY;
      }
    }
  }

  private void pack() {
    put(X, 0);
    put(Y, 0);
    put(Z, 0);
    put(PITCH, Memory.getLong(extent));
    put(HEIGHT, Memory.getLong(extent + 8));
  }

  /** Returns the bytes from the pointer to the end of the last byte of the copy. */
  private long reaches() {
    long width = Memory.getLong(extent);
    long height = Memory.getLong(extent + 8);
    long depth = Memory.getLong(extent + 16);
    long pitch = get(PITCH) != 0 ? get(PITCH) : Extent.plus(get(X), width);
    long rows = get(HEIGHT) != 0 ? get(HEIGHT) : Extent.plus(get(Y), height);
    long slice = Extent.times(pitch, rows);
    long box = Extent.box(width, height, depth, pitch, slice);
    long before = Extent.plus(Extent.times(get(Y), pitch), Extent.times(get(Z), slice));
    return box == 0 ? 0 : Extent.plus(Extent.plus(get(X), before), box);
  }
}
