package graft.remoting.software.object;

/**
 * The values of CUdevice_attribute. The values that programs calculate with agree with each other
 * and with what the software device does; limits are those of the compute capability if CUDA fixes
 * them.
 */
public final class DeviceAttributes {
  public static final int MAX_THREADS_PER_BLOCK = 1024;
  public static final int SHARED_PER_BLOCK = 48 << 10;
  public static final int SHARED_PER_MULTIPROCESSOR = 228 << 10;
  public static final int SHARED_RESERVED = 1 << 10;
  public static final int SHARED_OPT_IN = SHARED_PER_MULTIPROCESSOR - SHARED_RESERVED;
  public static final int THREADS_PER_MULTIPROCESSOR = 2048;
  public static final int BLOCKS_PER_MULTIPROCESSOR = 32;
  public static final int REGISTERS = 65536;
  public static final int PORTABLE_CLUSTER = 8;
  public static final int LARGEST_CLUSTER = 16;

  /** The largest attribute that is known; attributes are numbered from 1. */
  private static final int LAST = 147;

  private DeviceAttributes() {}

  /**
   * Returns the value of an attribute, or {@link Integer#MIN_VALUE} if the attribute is unknown.
   */
  public static int value(Gpu gpu, int attribute) {
    return switch (attribute) {
      case 1 -> MAX_THREADS_PER_BLOCK;
      case 2, 3 -> 1024; // block x, y
      case 4 -> 64; // block z
      case 5 -> Integer.MAX_VALUE; // grid x
      case 6, 7 -> 65535; // grid y, z
      case 8 -> SHARED_PER_BLOCK;
      case 9 -> 65536; // constant memory
      case 10 -> 32; // warp
      case 11 -> Integer.MAX_VALUE; // pitch
      case 12 -> REGISTERS; // of a block
      case 13 -> 1_000_000; // clock, kHz: %clock counts nanoseconds
      case 14 -> 512; // texture alignment
      case 15 -> 1; // overlap of copies and kernels
      case 16 -> gpu.multiprocessors();
      case 19 -> 1; // maps host memory
      case 21, 22, 56, 70 -> 131072; // widths of 1D and 2D textures
      case 23, 57 -> 65536;
      case 24, 25, 26, 58, 59, 60 -> 16384; // 3D
      case 27, 28, 42, 45, 46, 49, 52, 53, 55, 61, 63, 64, 66, 67, 73, 74, 77 ->
          32768; // layered, cube
      case 29, 43, 62, 65 -> 2048; // layers
      case 30 -> 512; // surface alignment
      case 31 -> 1; // concurrent kernels
      case 33 -> gpu.ordinal() + 1; // PCI bus
      case 36 -> 1_000_000; // memory clock, kHz
      case 37 -> 64; // memory bus, bits
      case 38 -> 32 << 20; // L2
      case 39 -> THREADS_PER_MULTIPROCESSOR;
      case 40 -> 2; // copy engines
      case 41 -> 1; // unified addressing
      case 44 -> 1; // texture gather
      case 47, 48 -> 8192;
      case 51 -> 32; // pitch alignment of textures
      case 54, 68 -> 2046; // layers of cube maps
      case 69 -> 268435456; // linear 1D texture
      case 71 -> 65000; // linear 2D texture
      case 72 -> 2097120; // its pitch
      case 75 -> gpu.computeMajor();
      case 76 -> gpu.computeMinor();
      case 78 -> 1; // stream priorities
      case 79, 80 -> 1; // L1 caches
      case 81 -> SHARED_PER_MULTIPROCESSOR;
      case 82 -> REGISTERS; // of a multiprocessor
      case 86 -> 1; // native atomics between host and device
      case 87 -> 2; // single to double performance
      case 90 -> 1; // compute preemption
      case 91 -> 1; // host pointers of registered memory
      case 95 -> 1; // cooperative launch
      case 97 -> SHARED_OPT_IN;
      case 99 -> 1; // host register
      case 102 -> 1; // virtual memory management
      case 103 -> 1; // descriptors of memory for other processes
      case 106 -> BLOCKS_PER_MULTIPROCESSOR;
      case 111 -> SHARED_RESERVED;
      case 114 -> 1; // read-only host registration
      case 115, 119 -> 1; // memory pools, and descriptors of them
      case 120 -> gpu.computeMajor() >= 9 ? 1 : 0; // cluster launch
      case 122 -> 1; // unified function pointers
      case 125 -> 1; // events for other processes
      case 131 -> -1; // NUMA node of the host
      default -> attribute >= 1 && attribute <= LAST ? 0 : Integer.MIN_VALUE;
    };
  }
}
