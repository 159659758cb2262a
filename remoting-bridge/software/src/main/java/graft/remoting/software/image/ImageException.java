package graft.remoting.software.image;

/** Thrown when an image cannot be loaded, with the CUresult for the program. */
public final class ImageException extends RuntimeException {
  /** CUDA_ERROR_INVALID_IMAGE. */
  public static final int INVALID_IMAGE = 200;

  /** CUDA_ERROR_NO_BINARY_FOR_GPU. */
  public static final int NO_BINARY_FOR_GPU = 209;

  private final int code;

  public ImageException(int code, String message) {
    super(message);
    this.code = code;
  }

  /** The CUresult. */
  public int code() {
    return code;
  }
}
