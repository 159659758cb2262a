package graft.remoting.software.exec;

/**
 * A texture or surface: where its elements lie and how they are read (CUDA driver API, "Texture
 * Object Management").
 *
 * @param address the first element
 * @param width elements of a row
 * @param height rows, 0 for one dimension
 * @param depth slices or layers, 0 for none
 * @param layered whether the slices are layers
 * @param pitch bytes from row to row
 * @param channels 1, 2 or 4
 * @param format CUarray_format of a channel
 * @param addressModes CUaddress_mode along x, y, z: 0 wrap, 1 clamp, 2 mirror, 3 border
 * @param linear whether texels are interpolated
 * @param normalized whether coordinates go from 0 to 1
 * @param integers whether integer texels are read as integers instead of as fractions
 * @param srgb whether red, green and blue of 8 bits are sRGB, to be read as linear fractions
 * @param border the border colour
 */
public record Texture(
    long address,
    int width,
    int height,
    int depth,
    boolean layered,
    long pitch,
    int channels,
    int format,
    int[] addressModes,
    boolean linear,
    boolean normalized,
    boolean integers,
    boolean srgb,
    float[] border) {

  /** Bytes of a channel of a CUarray_format, or 0 if the format is not supported. */
  public static int channelBytes(int format) {
    return switch (format) {
      case 0x01, 0x08 -> 1; // u8, s8
      case 0x02, 0x09, 0x10 -> 2; // u16, s16, half
      case 0x03, 0x0a, 0x20 -> 4; // u32, s32, float
      default -> 0;
    };
  }

  int texelBytes() {
    return channels * channelBytes(format);
  }

  boolean isFloat() {
    return format == 0x10 || format == 0x20;
  }
}
