package graft.remoting.software.object;

import graft.remoting.software.memory.Native;

/**
 * The attributes of a launch (CUlaunchAttribute) that this device implements.
 *
 * @param cooperative whether the blocks may wait for each other
 * @param cluster the blocks of a cluster along x, y and z, or null for the kernel's own
 */
public record LaunchAttributes(boolean cooperative, int[] cluster) {
  public static final LaunchAttributes NONE = new LaunchAttributes(false, null);
  public static final LaunchAttributes COOPERATIVE = new LaunchAttributes(true, null);

  // CUlaunchAttributeID
  private static final int ID_COOPERATIVE = 2;
  private static final int ID_CLUSTER = 4;

  /**
   * Reads the attributes of a CUlaunchConfig: their address is at offset 40, their number at 48.
   */
  public static LaunchAttributes of(long config) {
    boolean cooperative = false;
    int[] cluster = null;
    long attributes = Native.UNSAFE.getLong(config + 40);
    for (int i = 0; i < Native.UNSAFE.getInt(config + 48); i++) {
      long attribute = attributes + 72L * i;
      switch (Native.UNSAFE.getInt(attribute)) {
        case ID_COOPERATIVE -> cooperative = Native.UNSAFE.getInt(attribute + 8) != 0;
        case ID_CLUSTER -> cluster = CallerMemory.ints(attribute + 8);
        default -> {}
      }
    }
    return new LaunchAttributes(cooperative, cluster);
  }
}
