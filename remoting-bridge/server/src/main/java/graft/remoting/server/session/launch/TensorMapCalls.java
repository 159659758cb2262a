package graft.remoting.server.session.launch;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.SessionCalls;
import java.util.function.LongToIntFunction;

/**
 * The calls on tensor maps: 128 bytes that only the driver can write, at an address that it
 * requires to be aligned.
 */
public final class TensorMapCalls implements SessionCalls.TensorMap {
  private static final int BYTES = 128;
  private static final int ALIGNMENT = 64;
  private static final int MAX_RANK = 5;

  private final CudaDevice device;
  private final long map = Memory.allocate(BYTES + ALIGNMENT) + ALIGNMENT - 1 & -(long) ALIGNMENT;

  /** The strides of a tensor of one dimension. It has none, but the driver wants an address. */
  private final long noStrides = Memory.allocate(Long.BYTES);

  public TensorMapCalls(CudaDevice device) {
    this.device = device;
  }

  /**
   * The description of a tensor. The lists have an element for each dimension, the strides one
   * fewer.
   */
  private record Tensor(
      int type, int rank, long address, long sizes, long strides, int strideCount) {
    boolean isValid() {
      return rank >= 1 && rank <= MAX_RANK && strideCount == rank - 1 && sizes != 0 && strides != 0;
    }
  }

  private Tensor tensor(
      int type, int rank, long address, long sizes, long strides, int strideCount) {
    return new Tensor(type, rank, address, sizes, rank == 1 ? noStrides : strides, strideCount);
  }

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

  @Override
  public int graftTensorMapTiled(
      Call call,
      long map,
      int type,
      int rank,
      long address,
      long sizes,
      long strides,
      int strideCount,
      long box,
      long steps,
      int interleave,
      int swizzle,
      int promotion,
      int fill) {
    Tensor t = tensor(type, rank, address, sizes, strides, strideCount);
    return encode(
        map,
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
                interleave,
                swizzle,
                promotion,
                fill));
  }

  @Override
  public int graftTensorMapIm2col(Call call, TensorMapIm2col a) {
    Tensor t = tensor(a.type(), a.rank(), a.address(), a.sizes(), a.strides(), a.strideCount());
    return encode(
        a.map(),
        t.isValid()
            && a.cornerCount() == t.rank() - 2
            && a.lower() != 0
            && a.upper() != 0
            && a.steps() != 0,
        to ->
            device.cuTensorMapEncodeIm2col(
                to,
                t.type(),
                t.rank(),
                t.address(),
                t.sizes(),
                t.strides(),
                a.lower(),
                a.upper(),
                a.channels(),
                a.pixels(),
                a.steps(),
                a.interleave(),
                a.swizzle(),
                a.promotion(),
                a.fill()));
  }

  @Override
  public int graftTensorMapIm2colWide(Call call, TensorMapIm2colWide a) {
    Tensor t = tensor(a.type(), a.rank(), a.address(), a.sizes(), a.strides(), a.strideCount());
    return encode(
        a.map(),
        t.isValid() && a.steps() != 0,
        to ->
            device.cuTensorMapEncodeIm2colWide(
                to,
                t.type(),
                t.rank(),
                t.address(),
                t.sizes(),
                t.strides(),
                a.lower(),
                a.upper(),
                a.channels(),
                a.pixels(),
                a.steps(),
                a.interleave(),
                a.mode(),
                a.swizzle(),
                a.promotion(),
                a.fill()));
  }

  @Override
  public int graftTensorMapReplace(Call call, long result, long before, long address) {
    return encode(
        result,
        before != 0,
        to -> {
          Memory.copy(before, to, BYTES);
          return device.cuTensorMapReplaceAddress(to, address);
        });
  }
}
