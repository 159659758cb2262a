package graft.remoting.software.exec;

/** Ends a kernel for what it did; the code is the CUresult that the context then returns. */
public final class DeviceFault extends RuntimeException {
  /** CUDA_ERROR_ILLEGAL_ADDRESS; on an H200 also for a stack overflow and a call of no code. */
  public static final int ILLEGAL_ADDRESS = 700;

  /** CUDA_ERROR_ASSERT. */
  public static final int ASSERT = 710;

  /** CUDA_ERROR_ILLEGAL_INSTRUCTION. */
  public static final int ILLEGAL_INSTRUCTION = 715;

  /** CUDA_ERROR_MISALIGNED_ADDRESS. */
  public static final int MISALIGNED = 716;

  /** CUDA_ERROR_LAUNCH_FAILED. */
  public static final int LAUNCH_FAILED = 719;

  private final int code;

  public DeviceFault(int code, String message) {
    super(message, null, false, false);
    this.code = code;
  }

  /** The CUresult. */
  public int code() {
    return code;
  }
}
