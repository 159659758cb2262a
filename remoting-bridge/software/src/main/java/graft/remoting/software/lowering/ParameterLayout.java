package graft.remoting.software.lowering;

import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.FunctionIr;
import graft.remoting.software.ptx.PtxException;
import graft.remoting.software.ptx.Variable;
import java.util.List;

/** The layout of the parameters of kernels and calls. */
final class ParameterLayout {
  private ParameterLayout() {}

  /** Returns the offset of a kernel's parameter in the parameter buffer, in bytes. */
  static int kernelParamOffset(List<Variable> params, int index) {
    int offset = 0;
    for (int i = 0; i <= index; i++) {
      Variable v = params.get(i);
      offset = (offset + v.align() - 1) / v.align() * v.align();
      if (i < index) {
        offset += (int) v.bytes();
      }
    }
    return offset;
  }

  /**
   * Returns the bytes for a parameter or result of a call, a multiple of 16.
   *
   * @throws PtxException if they exceed a thread's local memory
   */
  static int slotBytes(Variable v) {
    if (v.bytes() > FunctionIr.LARGEST_FRAME) {
      throw PtxException.invalid(v.line(), "parameter '" + v.name() + "' is too large");
    }
    return (int) (v.bytes() + 15 & ~15L);
  }

  /**
   * Lays out results first, then parameters, each at a multiple of 16, so that caller and callee
   * agree without knowing each other. A callee may declare more parameters than its caller passes;
   * what it reads then lies beyond the caller's frame, by at most {@link FunctionIr#LARGEST_FRAME}
   * bytes.
   */
  static int layOut(
      List<Variable> returns,
      List<Variable> params,
      java.util.function.IntFunction<Expr> at,
      Activation into) {
    int offset = 0;
    for (List<Variable> list : List.of(returns, params)) {
      for (Variable v : list) {
        into.places.put(v, at.apply(offset));
        offset += slotBytes(v);
        if (offset > FunctionIr.LARGEST_FRAME) {
          throw PtxException.invalid(v.line(), "too many bytes of parameters");
        }
      }
    }
    return offset;
  }
}
