package graft.remoting.software.object;

/**
 * A CUarray: rows one after the other in device memory.
 *
 * @param address its first element
 * @param width elements of a row
 * @param height rows; 0 for one dimension
 * @param depth slices or layers; 0 for none
 * @param format CUarray_format
 * @param channels channels of an element
 * @param flags CUDA_ARRAY3D_*
 * @param elementBytes bytes of an element
 */
public record CudaArray(
    long address,
    long width,
    long height,
    long depth,
    int format,
    int channels,
    int flags,
    int elementBytes) {

  public static final int LAYERED = 1;
  public static final int CUBEMAP = 4;

  /** The faces of a cube are layers too: +x, -x, +y, -y, +z, -z. */
  public boolean isLayered() {
    return (flags & (LAYERED | CUBEMAP)) != 0;
  }

  public boolean isCubemap() {
    return (flags & CUBEMAP) != 0;
  }

  public long pitch() {
    return width * elementBytes;
  }

  public long rows() {
    return Math.max(1, height);
  }

  public long slices() {
    return Math.max(1, depth);
  }

  public long bytes() {
    return pitch() * rows() * slices();
  }
}
