package graft.remoting.server.session;

import com.sun.jna.Function;
import com.sun.jna.Pointer;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Scratch;

/**
 * The positions of a GPU's pairs of multiprocessors (TPCs), from a private table of the driver. On
 * Hopper, cuBLASLt 13 asks for them and uses the answer without checking the error, so that a
 * client needs an answer. Observed on an H200 with driver 580: slot 4 (u8** cluster, u8** place)
 * returns two arrays of one byte for each TPC, slot 13 (cluster, place, ...) frees them, and the
 * table has 136 bytes.
 */
final class Topology {
  private static final byte[] TABLE = {
    0x17,
    0x34,
    (byte) 0xdc,
    0x26,
    (byte) 0x80,
    0x0d,
    0x47,
    0x45,
    (byte) 0x87,
    0x26,
    (byte) 0xf0,
    (byte) 0xc1,
    (byte) 0xe7,
    (byte) 0xdd,
    (byte) 0x8b,
    (byte) 0xca
  };
  private static final int BYTES = 136;
  private static final int GET = 4;
  private static final int GIVE_BACK = 13;

  /** CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT and COMPUTE_CAPABILITY_MAJOR. */
  private static final int MULTIPROCESSORS = 16;

  private static final int MAJOR = 75;
  private static final int HOPPER = 9;

  private Topology() {}

  /**
   * Writes the arrays and the count. Returns CUDA_ERROR_NOT_SUPPORTED on a driver or device for
   * which the private table has not been examined.
   */
  static int read(CudaDevice device, int dev, long cluster, long place, int capacity, long count) {
    if (cluster == 0 || place == 0 || count == 0) {
      return CudaResult.INVALID_VALUE;
    }
    try (Scratch scratch = new Scratch(32)) {
      long at = scratch.address();
      if (device.cuDeviceGetAttribute(at, MAJOR, dev) != CudaResult.SUCCESS
          || Memory.getInt(at) < HOPPER
          || device.cuDeviceGetAttribute(at, MULTIPROCESSORS, dev) != CudaResult.SUCCESS) {
        return CudaResult.NOT_SUPPORTED;
      }
      int pairs = Memory.getInt(at) / 2;
      Memory.write(at, TABLE, 0, TABLE.length);
      if (pairs > capacity
          || device.cuGetExportTable(at + 16, at) != CudaResult.SUCCESS
          || Memory.getLong(Memory.getLong(at + 16)) != BYTES) {
        return CudaResult.NOT_SUPPORTED;
      }
      long table = Memory.getLong(at + 16);
      int result = slot(table, GET).invokeInt(new Object[] {new Pointer(at), new Pointer(at + 8)});
      long clusters = Memory.getLong(at);
      long places = Memory.getLong(at + 8);
      if (result != CudaResult.SUCCESS || clusters == 0 || places == 0) {
        return CudaResult.NOT_SUPPORTED;
      }
      Memory.copy(clusters, cluster, pairs);
      Memory.copy(places, place, pairs);
      Memory.putInt(count, pairs);
      slot(table, GIVE_BACK).invokeInt(new Object[] {new Pointer(clusters), new Pointer(places)});
      return CudaResult.SUCCESS;
    }
  }

  private static Function slot(long table, int index) {
    return Function.getFunction(new Pointer(Memory.getLong(table + 8L * index)));
  }
}
