package graft.remoting.software.exec;

import graft.remoting.software.math.HalfMath;
import graft.remoting.software.memory.Native;

/**
 * Texture fetches and surface addresses. Coordinates and filters follow "Texture Fetching" of the
 * CUDA programming guide: weights of linear filtering have 8 bits of fraction.
 */
public final class TextureAccess {
  private static final int WRAP = 0;
  private static final int MIRROR = 2;
  private static final int BORDER = 3;

  /** Reads outside a surface return these zeros, and writes outside a surface go here. */
  private static final long ZEROS = Native.UNSAFE.allocateMemory(32);

  private static final long SINK = Native.UNSAFE.allocateMemory(32);

  static {
    Native.UNSAFE.setMemory(ZEROS, 32, (byte) 0);
  }

  private TextureAccess() {}

  private static Texture find(ThreadBlock b, long handle) {
    Texture found = b.launch.runner.textures().find(handle);
    if (found == null) {
      throw new DeviceFault(
          DeviceFault.ILLEGAL_ADDRESS,
          "0x" + Long.toHexString(handle) + " is no texture or surface, used by " + b.where(-1));
    }
    return found;
  }

  /** Component {@code k} of the last fetch, as raw bits. */
  public static int texel(ThreadBlock b, int k) {
    return b.texel[k];
  }

  /** Fetches by whole coordinates without a filter; a fetch outside the texture returns 0. */
  public static void fetch(
      ThreadBlock b, long handle, int dimensions, int x, int y, int z, int layer, int level) {
    Texture t = find(b, handle);
    boolean inside =
        x >= 0
            && x < t.width()
            && (dimensions < 2 || y >= 0 && y < Math.max(1, t.height()))
            && (dimensions < 3 || z >= 0 && z < Math.max(1, t.depth()));
    if (inside) {
      read(b, t, x, dimensions < 2 ? 0 : y, slice(t, dimensions, z, layer));
    } else {
      java.util.Arrays.fill(b.texel, 0);
    }
  }

  private static int slice(Texture t, int dimensions, int z, int layer) {
    if (t.layered()) {
      return Math.max(0, Math.min(layer, Math.max(1, t.depth()) - 1));
    }
    return dimensions == 3 ? z : 0;
  }

  /** Fetches by coordinates with the texture's address and filter modes. */
  public static void sample(
      ThreadBlock b,
      long handle,
      int dimensions,
      float x,
      float y,
      float z,
      int layer,
      float level) {
    Texture t = find(b, handle);
    float u = t.normalized() ? x * t.width() : x;
    float v = t.normalized() ? y * Math.max(1, t.height()) : y;
    float w = t.normalized() ? z * Math.max(1, t.depth()) : z;
    if (!t.linear() || t.integers() && !t.isFloat()) {
      texelOrBorder(b, t, dimensions, floor(u), floor(v), floor(w), layer);
      return;
    }
    filtered(b, t, dimensions, u - 0.5f, v - 0.5f, w - 0.5f, layer);
  }

  /**
   * Fetches from the face of a cube that a direction points at (CUDA programming guide, "Cubemap
   * Textures").
   *
   * @param layer which cube of a layered texture, else 0
   */
  public static void sampleCube(
      ThreadBlock b, long handle, float x, float y, float z, int layer, float level) {
    float ax = Math.abs(x);
    float ay = Math.abs(y);
    float az = Math.abs(z);
    int face;
    float s;
    float t;
    if (ax >= ay && ax >= az) {
      face = x >= 0 ? 0 : 1;
      s = x >= 0 ? -z : z;
      t = -y;
    } else if (ay >= az) {
      face = y >= 0 ? 2 : 3;
      s = x;
      t = y >= 0 ? z : -z;
    } else {
      face = z >= 0 ? 4 : 5;
      s = z >= 0 ? x : -x;
      t = -y;
    }
    float m = Math.max(ax, Math.max(ay, az));
    sample(b, handle, 2, (s / m + 1) / 2, (t / m + 1) / 2, 0, 6 * layer + face, level);
  }

  private static int floor(float a) {
    return (int) Math.floor(a);
  }

  private static float weight(float a) {
    return Math.round((a - (float) Math.floor(a)) * 256) / 256f;
  }

  private static void filtered(
      ThreadBlock b, Texture t, int dimensions, float u, float v, float w, int layer) {
    float[] sum = new float[4];
    int corners = 1 << dimensions;
    for (int corner = 0; corner < corners; corner++) {
      int dx = corner & 1;
      int dy = corner >> 1 & 1;
      int dz = corner >> 2 & 1;
      float factor = dx == 0 ? 1 - weight(u) : weight(u);
      if (dimensions > 1) {
        factor *= dy == 0 ? 1 - weight(v) : weight(v);
      }
      if (dimensions > 2) {
        factor *= dz == 0 ? 1 - weight(w) : weight(w);
      }
      if (factor != 0) {
        texelOrBorder(b, t, dimensions, floor(u) + dx, floor(v) + dy, floor(w) + dz, layer);
        for (int k = 0; k < 4; k++) {
          sum[k] += factor * Float.intBitsToFloat(b.texel[k]);
        }
      }
    }
    for (int k = 0; k < 4; k++) {
      b.texel[k] = Float.floatToRawIntBits(sum[k]);
    }
  }

  /** Returns the index that an address mode substitutes for one outside, or -1 for the border. */
  private static int addressed(Texture t, int axis, int i, int size) {
    if (i >= 0 && i < size) {
      return i;
    }
    int mode = t.addressModes()[axis];
    if (mode == BORDER) {
      return -1;
    }
    // Wrap and mirror need normalized coordinates; otherwise they act like clamp.
    if (t.normalized() && mode == WRAP) {
      return Math.floorMod(i, size);
    }
    if (t.normalized() && mode == MIRROR) {
      int period = Math.floorMod(i, 2 * size);
      return period < size ? period : 2 * size - 1 - period;
    }
    return i < 0 ? 0 : size - 1;
  }

  private static void texelOrBorder(
      ThreadBlock b, Texture t, int dimensions, int x, int y, int z, int layer) {
    int i = addressed(t, 0, x, t.width());
    int j = dimensions > 1 ? addressed(t, 1, y, Math.max(1, t.height())) : 0;
    int k = dimensions > 2 ? addressed(t, 2, z, Math.max(1, t.depth())) : 0;
    if (i < 0 || j < 0 || k < 0) {
      for (int c = 0; c < 4; c++) {
        b.texel[c] =
            t.integers() && !t.isFloat()
                ? (int) t.border()[c]
                : Float.floatToRawIntBits(t.border()[c]);
      }
      return;
    }
    read(b, t, i, j, slice(t, dimensions, k, layer));
  }

  private static void read(ThreadBlock b, Texture t, int x, int y, int slice) {
    long address =
        t.address()
            + slice * t.pitch() * Math.max(1, t.height())
            + y * t.pitch()
            + (long) x * t.texelBytes();
    if (!b.memory.contains(address, t.texelBytes())) {
      throw new DeviceFault(
          DeviceFault.ILLEGAL_ADDRESS,
          "the memory of a texture was freed: 0x" + Long.toHexString(address));
    }
    int bytes = Texture.channelBytes(t.format());
    boolean fraction = !t.integers() && !t.isFloat();
    for (int c = 0; c < 4; c++) {
      if (c < t.channels()) {
        b.texel[c] = channel(t.format(), address + (long) c * bytes, fraction);
        if (t.srgb() && t.format() == 0x01 && c < 3) {
          b.texel[c] = linear(Float.intBitsToFloat(b.texel[c]));
        }
      } else {
        boolean whole = t.integers() && !t.isFloat();
        b.texel[c] = c < 3 ? 0 : whole ? 1 : Float.floatToRawIntBits(1f);
      }
    }
  }

  private static int channel(int format, long address, boolean fraction) {
    return switch (format) {
      case 0x01 -> fraction(Access.loadU8(address), 255f, fraction);
      case 0x02 -> fraction(Access.loadU16(address), 65535f, fraction);
      case 0x08 -> fraction(Access.loadS8(address), 127f, fraction);
      case 0x09 -> fraction(Access.loadS16(address), 32767f, fraction);
      case 0x10 -> Float.floatToRawIntBits(HalfMath.toFloat(Access.loadU16(address)));
      default -> Access.loadI32(address);
    };
  }

  /** Converts an sRGB value to linear light (IEC 61966-2-1). */
  private static int linear(float value) {
    double light = value <= 0.04045f ? value / 12.92 : Math.pow((value + 0.055) / 1.055, 2.4);
    return Float.floatToRawIntBits((float) light);
  }

  private static int fraction(int value, float most, boolean wanted) {
    return wanted ? Float.floatToRawIntBits(Math.max(-1f, value / most)) : value;
  }

  /** tld4: one component of the four texels that linear filtering would use. */
  public static void gather(ThreadBlock b, long handle, int component, float x, float y) {
    Texture t = find(b, handle);
    float u = (t.normalized() ? x * t.width() : x) - 0.5f;
    float v = (t.normalized() ? y * t.height() : y) - 0.5f;
    int[] result = new int[4];
    // In the order (0,1), (1,1), (1,0), (0,0), counter-clockwise from the lower left.
    int[][] corners = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    for (int k = 0; k < 4; k++) {
      texelOrBorder(b, t, 2, floor(u) + corners[k][0], floor(v) + corners[k][1], 0, 0);
      result[k] = b.texel[component];
    }
    System.arraycopy(result, 0, b.texel, 0, 4);
  }

  /** txq: 0 width, 1 height, 2 depth, 3 layers. */
  public static int queryTexture(ThreadBlock b, long handle, int what) {
    Texture t = find(b, handle);
    return switch (what) {
      case 0 -> t.width();
      case 1 -> t.height();
      case 2 -> t.layered() ? 0 : t.depth();
      default -> t.layered() ? t.depth() : 0;
    };
  }

  public static int querySurface(ThreadBlock b, long handle, int what) {
    return queryTexture(b, handle, what);
  }

  /**
   * Returns the address of surface elements. Outside, mode 0 traps, 1 uses the nearest element
   * inside, 2 reads zero and drops writes.
   *
   * @param x the offset in the row in bytes
   */
  public static long surfaceAddress(
      ThreadBlock b,
      long handle,
      int x,
      int y,
      int z,
      int layer,
      int bytes,
      int mode,
      int store,
      int thread) {
    Texture t = find(b, handle);
    int rowBytes = t.width() * t.texelBytes();
    int rows = Math.max(1, t.height());
    int slices = Math.max(1, t.depth());
    int slice = t.layered() ? layer : z;
    if (bytes > rowBytes) {
      throw new DeviceFault(
          DeviceFault.LAUNCH_FAILED,
          "surface access wider than a row of the array by " + b.where(thread));
    }
    boolean inside =
        x >= 0 && x <= rowBytes - bytes && y >= 0 && y < rows && slice >= 0 && slice < slices;
    if (!inside) {
      if (mode == 0) {
        throw new DeviceFault(
            DeviceFault.LAUNCH_FAILED,
            "surface access outside the array at byte "
                + x
                + ", row "
                + y
                + ", slice "
                + slice
                + " by "
                + b.where(thread));
      }
      if (mode == 2) {
        return store != 0 ? SINK : ZEROS;
      }
    }
    int i = Math.max(0, Math.min(x, rowBytes - bytes));
    int j = Math.max(0, Math.min(y, rows - 1));
    int k = Math.max(0, Math.min(slice, slices - 1));
    return t.address() + k * t.pitch() * rows + j * t.pitch() + i;
  }
}
