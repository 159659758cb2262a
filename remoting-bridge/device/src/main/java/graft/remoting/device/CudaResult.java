package graft.remoting.device;

/**
 * The values of CUresult that Graft's own code uses (CUDA driver API reference, "Data types used by
 * CUDA driver").
 */
public final class CudaResult {
  public static final int SUCCESS = 0;
  public static final int INVALID_VALUE = 1;
  public static final int OUT_OF_MEMORY = 2;
  public static final int NOT_INITIALIZED = 3;
  public static final int DEINITIALIZED = 4;
  public static final int DEVICE_UNAVAILABLE = 46;
  public static final int NO_DEVICE = 100;
  public static final int INVALID_DEVICE = 101;
  public static final int INVALID_IMAGE = 200;
  public static final int INVALID_CONTEXT = 201;
  public static final int MAP_FAILED = 205;
  public static final int NO_BINARY_FOR_GPU = 209;
  public static final int INVALID_PTX = 218;
  public static final int UNSUPPORTED_PTX_VERSION = 222;
  public static final int INVALID_SOURCE = 300;
  public static final int FILE_NOT_FOUND = 301;
  public static final int OPERATING_SYSTEM = 304;
  public static final int INVALID_HANDLE = 400;
  public static final int ILLEGAL_STATE = 401;
  public static final int NOT_FOUND = 500;
  public static final int NOT_READY = 600;
  public static final int ILLEGAL_ADDRESS = 700;
  public static final int LAUNCH_OUT_OF_RESOURCES = 701;
  public static final int LAUNCH_TIMEOUT = 702;
  public static final int CONTEXT_IS_DESTROYED = 709;
  public static final int ASSERT = 710;
  public static final int HOST_MEMORY_ALREADY_REGISTERED = 712;
  public static final int HOST_MEMORY_NOT_REGISTERED = 713;
  public static final int ILLEGAL_INSTRUCTION = 715;
  public static final int MISALIGNED_ADDRESS = 716;
  public static final int LAUNCH_FAILED = 719;
  public static final int NOT_PERMITTED = 800;
  public static final int NOT_SUPPORTED = 801;
  public static final int STREAM_CAPTURE_UNSUPPORTED = 900;
  public static final int STREAM_CAPTURE_INVALIDATED = 901;
  public static final int STREAM_CAPTURE_IMPLICIT = 906;
  public static final int UNKNOWN = 999;

  private CudaResult() {}
}
