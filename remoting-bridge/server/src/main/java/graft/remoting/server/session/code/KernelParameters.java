package graft.remoting.server.session.code;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Scratch;
import java.util.Set;

/**
 * Where the parameters of a session's kernels lie. Clients send them packed, each at its offset;
 * the driver takes and returns them so too, or as pointers to each.
 */
public final class KernelParameters {
  private static final int MOST = 4096;

  private final CudaDevice device;
  private final Set<Long> kernels;

  /** The list that {@link #pointersTo} returns; 0 until it is first called. */
  private long pointers;

  /**
   * Creates the parameters of a session's kernels.
   *
   * @param kernels the handles that are kernels of libraries, as they are made
   */
  public KernelParameters(CudaDevice device, Set<Long> kernels) {
    this.device = device;
    this.kernels = kernels;
  }

  /** Returns whether the handle is a kernel of a library rather than a function of a module. */
  public boolean isKernel(long function) {
    return kernels.contains(function);
  }

  /**
   * Writes the number of parameters, and their offsets and sizes in turn as far as the capacity
   * goes.
   */
  int layout(long function, long count, long layout, int capacity) {
    return AnyContext.ask(device, () -> ask(function, count, layout, capacity));
  }

  private int ask(long function, long count, long layout, int capacity) {
    boolean kernel = isKernel(function);
    try (Scratch answer = new Scratch(16)) {
      int parameters = 0;
      while (true) {
        int result =
            kernel
                ? device.cuKernelGetParamInfo(
                    function, parameters, answer.address(), answer.address() + 8)
                : device.cuFuncGetParamInfo(
                    function, parameters, answer.address(), answer.address() + 8);
        if (result == CudaResult.INVALID_VALUE) {
          break;
        }
        if (result != CudaResult.SUCCESS) {
          return result;
        }
        if (layout != 0 && 2L * parameters + 1 < capacity) {
          long at = layout + 8L * parameters;
          Memory.putInt(at, (int) Memory.getLong(answer.address()));
          Memory.putInt(at + 4, (int) Memory.getLong(answer.address() + 8));
        }
        parameters++;
      }
      if (count != 0) {
        Memory.putInt(count, parameters);
      }
      return CudaResult.SUCCESS;
    }
  }

  /** A visitor that is told where each parameter lies among the packed ones. */
  private interface Place {
    void of(int parameter, int offset, int size);
  }

  /**
   * Visits all parameters of a kernel in turn. The result is INVALID_VALUE if a parameter lies
   * beyond the bytes, and else the driver's.
   */
  private int visit(long function, int bytes, Place place) {
    try (Scratch layout = new Scratch(8 * MOST + 8)) {
      int result = layout(function, layout.address(), layout.address() + 8, 2 * MOST);
      int count = Memory.getInt(layout.address());
      if (result != CudaResult.SUCCESS || count > MOST) {
        return result != CudaResult.SUCCESS ? result : CudaResult.NOT_SUPPORTED;
      }
      for (int i = 0; i < count; i++) {
        int offset = Memory.getInt(layout.address() + 8 + 8L * i);
        int size = Memory.getInt(layout.address() + 12 + 8L * i);
        if (offset < 0 || size < 0 || offset > bytes - size) {
          return CudaResult.INVALID_VALUE;
        }
        place.of(i, offset, size);
      }
      return CudaResult.SUCCESS;
    }
  }

  /**
   * Packs a kernel's parameters by its layout, either from the driver's pointers to them or from
   * the driver's packed buffer.
   */
  public int pack(long function, long pointers, long extra, long data, int capacity, long bytes) {
    if (data == 0) {
      return CudaResult.INVALID_VALUE;
    }
    int[] end = new int[1];
    int result =
        visit(
            function,
            capacity,
            (i, offset, size) -> {
              if (pointers != 0) {
                Memory.copy(Memory.getLong(pointers + 8L * i), data + offset, size);
              }
              end[0] = offset + size;
            });
    if (result != CudaResult.SUCCESS) {
      return result;
    }
    for (long at = extra; pointers == 0 && at != 0 && Memory.getLong(at) != 0; at += 16) {
      if (Memory.getLong(at) == 1) {
        Memory.copy(Memory.getLong(at + 8), data, end[0]);
      }
    }
    Memory.putInt(bytes, end[0]);
    return CudaResult.SUCCESS;
  }

  /**
   * Returns the address of a list of pointers to a kernel's packed parameters, for calls of the
   * driver that take no packed buffer. The next call of this method writes the list anew. The
   * address is 0 if the driver does not say where the parameters lie (drivers before CUDA 12.4), or
   * if a parameter lies beyond the buffer.
   */
  public long pointersTo(long function, long packed, int bytes) {
    if (pointers == 0) {
      pointers = Memory.allocate(8L * MOST);
    }
    int there = packed == 0 ? 0 : Math.max(0, bytes);
    int result =
        visit(
            function,
            there,
            (i, offset, size) -> Memory.putLong(pointers + 8L * i, packed + offset));
    return result == CudaResult.SUCCESS ? pointers : 0;
  }
}
