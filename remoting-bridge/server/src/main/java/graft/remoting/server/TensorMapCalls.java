package graft.remoting.server;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import java.util.function.LongToIntFunction;

/** Tensor maps: 128 bytes that only the driver can write, at an address of its own alignment. */
final class TensorMapCalls {
  private static final int BYTES = 128;
  private static final int ALIGNMENT = 64;
  private static final int MAX_RANK = 5;

  private final CudaDevice device;
  private final long map = Memory.allocate(BYTES + ALIGNMENT) + ALIGNMENT - 1 & -(long) ALIGNMENT;

  TensorMapCalls(CudaDevice device) {
    this.device = device;
  }

  /** What describes a tensor: lists as long as its rank, strides for all dimensions but one. */
  record Tensor(int type, int rank, long address, long sizes, long strides, int strideCount) {
    boolean isValid() {
      return rank >= 1
          && rank <= MAX_RANK
          && strideCount == rank - 1
          && sizes != 0
          && (strides != 0 || rank == 1);
    }
  }

  /** How shared memory is laid out and filled. */
  record Layout(int interleave, int swizzle, int promotion, int fill) {}

  private int encode(long result, boolean valid, LongToIntFunction encoder) {
    if (result == 0 || !valid) {
      return CudaResult.INVALID_VALUE;
    }
    int code = encoder.applyAsInt(map);
    if (code == CudaResult.SUCCESS) {
      Memory.copy(map, result, BYTES);
    }
    return code;
  }

  int tiled(long result, Tensor t, long box, long steps, Layout l) {
    return encode(
        result,
        t.isValid() && box != 0 && steps != 0,
        to ->
            device.cuTensorMapEncodeTiled(
                to,
                t.type(),
                t.rank(),
                t.address(),
                t.sizes(),
                t.strides(),
                box,
                steps,
                l.interleave(),
                l.swizzle(),
                l.promotion(),
                l.fill()));
  }

  int im2col(
      long result,
      Tensor t,
      long lower,
      long upper,
      int corners,
      int channels,
      int pixels,
      long steps,
      Layout l) {
    return encode(
        result,
        t.isValid() && corners == t.rank() - 2 && lower != 0 && upper != 0 && steps != 0,
        to ->
            device.cuTensorMapEncodeIm2col(
                to,
                t.type(),
                t.rank(),
                t.address(),
                t.sizes(),
                t.strides(),
                lower,
                upper,
                channels,
                pixels,
                steps,
                l.interleave(),
                l.swizzle(),
                l.promotion(),
                l.fill()));
  }

  int im2colWide(
      long result,
      Tensor t,
      int lower,
      int upper,
      int channels,
      int pixels,
      long steps,
      int mode,
      Layout l) {
    return encode(
        result,
        t.isValid() && steps != 0,
        to ->
            device.cuTensorMapEncodeIm2colWide(
                to,
                t.type(),
                t.rank(),
                t.address(),
                t.sizes(),
                t.strides(),
                lower,
                upper,
                channels,
                pixels,
                steps,
                l.interleave(),
                mode,
                l.swizzle(),
                l.promotion(),
                l.fill()));
  }

  int replace(long result, long before, long address) {
    return encode(
        result,
        before != 0,
        to -> {
          Memory.copy(before, to, BYTES);
          return device.cuTensorMapReplaceAddress(to, address);
        });
  }
}
