package graft.remoting.software;

import static graft.remoting.software.memory.Native.UNSAFE;
import static graft.remoting.software.object.CallerMemory.ints;
import static graft.remoting.software.object.CallerMemory.putInt;
import static graft.remoting.software.object.CallerMemory.putLong;
import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.device.CudaResult;
import graft.remoting.device.TextureApi;
import graft.remoting.software.exec.Texture;
import graft.remoting.software.object.Context;
import graft.remoting.software.object.Contexts;
import graft.remoting.software.object.CudaArray;
import graft.remoting.software.object.CudaException;
import graft.remoting.software.object.Handles;
import java.util.Arrays;

/** CUDA driver API: arrays, "Texture Object Management", "Surface Object Management". */
final class TextureFunctions implements TextureApi {
  /**
   * CUDA's largest size, which is that of a one-dimensional array; products of three sizes do not
   * overflow.
   */
  private static final long LARGEST_SIDE = 131_072;

  private static final int CLAMP = 1;
  private static final int READ_AS_INTEGER = 1;
  private static final int NORMALIZED_COORDINATES = 2;
  private static final int SRGB = 16;

  private final Calls calls;
  private final Handles handles;
  private final Contexts contexts;

  TextureFunctions(Calls calls, Handles handles, Contexts contexts) {
    this.calls = calls;
    this.handles = handles;
    this.contexts = contexts;
  }

  private void create(
      long result, long width, long height, long depth, int format, int channels, int flags) {
    int bytes = Texture.channelBytes(format);
    require(bytes > 0, "array format " + format + " is not supported");
    require(channels == 1 || channels == 2 || channels == 4, "1, 2 or 4 channels");
    require(width > 0 && height >= 0 && depth >= 0, "array without elements");
    require(
        width <= LARGEST_SIDE && height <= LARGEST_SIDE && depth <= LARGEST_SIDE,
        "array with more than " + LARGEST_SIDE + " elements along a side");
    require(
        (flags & CudaArray.CUBEMAP) == 0 || width == height && depth > 0 && depth % 6 == 0,
        "a cube map has six square faces");
    CudaArray shape =
        new CudaArray(0, width, height, depth, format, channels, flags, bytes * channels);
    Context context = contexts.current();
    long address = context.gpu().memory().allocate(shape.bytes(), context);
    if (address == 0) {
      throw new CudaException(CudaResult.OUT_OF_MEMORY, "no memory for an array");
    }
    putLong(
        result,
        handles.add(
            new CudaArray(
                address, width, height, depth, format, channels, flags, bytes * channels)));
  }

  /** CUDA_ARRAY_DESCRIPTOR: width, height, format at 16, channels at 20. */
  @Override
  public int cuArrayCreate_v2(long array, long d) {
    return calls.run(
        () ->
            create(
                array,
                UNSAFE.getLong(d),
                UNSAFE.getLong(d + 8),
                0,
                UNSAFE.getInt(d + 16),
                UNSAFE.getInt(d + 20),
                0));
  }

  /** CUDA_ARRAY3D_DESCRIPTOR: width, height, depth, format at 24, channels at 28, flags at 32. */
  @Override
  public int cuArray3DCreate_v2(long array, long d) {
    return calls.run(
        () ->
            create(
                array,
                UNSAFE.getLong(d),
                UNSAFE.getLong(d + 8),
                UNSAFE.getLong(d + 16),
                UNSAFE.getInt(d + 24),
                UNSAFE.getInt(d + 28),
                UNSAFE.getInt(d + 32)));
  }

  @Override
  public int cuArrayGetDescriptor_v2(long d, long array) {
    return calls.run(
        () -> {
          CudaArray a = handles.get(array, CudaArray.class);
          putLong(d, a.width());
          putLong(d + 8, a.height());
          putInt(d + 16, a.format());
          putInt(d + 20, a.channels());
        });
  }

  @Override
  public int cuArray3DGetDescriptor_v2(long d, long array) {
    return calls.run(
        () -> {
          CudaArray a = handles.get(array, CudaArray.class);
          putLong(d, a.width());
          putLong(d + 8, a.height());
          putLong(d + 16, a.depth());
          putInt(d + 24, a.format());
          putInt(d + 28, a.channels());
          putInt(d + 32, a.flags());
        });
  }

  /** Only arrays with deferred mapping have requirements. There are none here. */
  @Override
  public int cuArrayGetMemoryRequirements(long requirements, long array, int device) {
    return calls.run(
        () -> {
          handles.get(array, CudaArray.class);
          throw new CudaException(CudaResult.INVALID_VALUE, "no array with deferred mapping");
        });
  }

  @Override
  public int cuArrayDestroy(long array) {
    return calls.run(
        () -> {
          CudaArray a = handles.get(array, CudaArray.class);
          Context context = contexts.current();
          context.awaitAll();
          handles.remove(array);
          context.gpu().memory().release(a.address());
        });
  }

  private static Texture texture(CudaArray a, long desc) {
    Texture texture = planes(a, desc);
    if (a.isCubemap()) {
      // Filtering does not mix texels of a face with those of another face or of its opposite edge.
      Arrays.fill(texture.addressModes(), CLAMP);
    }
    return texture;
  }

  private static Texture planes(CudaArray a, long desc) {
    return texture(
        a.address(),
        (int) a.width(),
        (int) a.height(),
        (int) a.depth(),
        a.isLayered(),
        a.pitch(),
        a.format(),
        a.channels(),
        desc);
  }

  /** CUDA_TEXTURE_DESC: address modes at 0, filter at 12, flags at 16, border at 40. */
  private static Texture texture(
      long address,
      int width,
      int height,
      int depth,
      boolean layered,
      long pitch,
      int format,
      int channels,
      long d) {
    int flags = d == 0 ? READ_AS_INTEGER : UNSAFE.getInt(d + 16);
    float[] border = new float[4];
    for (int i = 0; d != 0 && i < 4; i++) {
      border[i] = UNSAFE.getFloat(d + 40 + 4L * i);
    }
    return new Texture(
        address,
        width,
        height,
        depth,
        layered,
        pitch,
        channels,
        format,
        d == 0 ? new int[3] : ints(d),
        d != 0 && UNSAFE.getInt(d + 12) == 1,
        (flags & NORMALIZED_COORDINATES) != 0,
        (flags & READ_AS_INTEGER) != 0,
        (flags & SRGB) != 0,
        border);
  }

  /** CUDA_RESOURCE_DESC: type at 0; an array, or address, format, channels and sizes, from 8 on. */
  @Override
  public int cuTexObjectCreate(long result, long resource, long desc, long view) {
    return calls.run(
        () -> {
          if (view != 0) {
            throw new CudaException(CudaResult.NOT_SUPPORTED, "resource views are not supported");
          }
          int format = UNSAFE.getInt(resource + 16);
          int channels = UNSAFE.getInt(resource + 20);
          Texture made =
              switch (UNSAFE.getInt(resource)) {
                case 0 -> texture(handles.get(UNSAFE.getLong(resource + 8), CudaArray.class), desc);
                case 2 -> {
                  long element = (long) Texture.channelBytes(format) * channels;
                  require(element > 0, "bad element");
                  yield texture(
                      UNSAFE.getLong(resource + 8),
                      (int) (UNSAFE.getLong(resource + 24) / element),
                      0,
                      0,
                      false,
                      UNSAFE.getLong(resource + 24),
                      format,
                      channels,
                      desc);
                }
                case 3 ->
                    texture(
                        UNSAFE.getLong(resource + 8),
                        (int) UNSAFE.getLong(resource + 24),
                        (int) UNSAFE.getLong(resource + 32),
                        0,
                        false,
                        UNSAFE.getLong(resource + 40),
                        format,
                        channels,
                        desc);
                default ->
                    throw new CudaException(
                        CudaResult.NOT_SUPPORTED, "mipmapped textures are not supported");
              };
          putLong(result, contexts.current().gpu().textures().add(made));
        });
  }

  @Override
  public int cuTexObjectDestroy(long texture) {
    return calls.run(
        () -> {
          Context context = contexts.current();
          context.awaitAll(); // kernels that were launched earlier still use it
          require(context.gpu().textures().remove(texture), "there is no such texture");
        });
  }

  @Override
  public int cuSurfObjectCreate(long result, long resource) {
    return calls.run(
        () -> {
          require(UNSAFE.getInt(resource) == 0, "a surface needs an array");
          CudaArray array = handles.get(UNSAFE.getLong(resource + 8), CudaArray.class);
          putLong(result, contexts.current().gpu().textures().add(texture(array, 0)));
        });
  }

  @Override
  public int cuSurfObjectDestroy(long surface) {
    return cuTexObjectDestroy(surface);
  }
}
