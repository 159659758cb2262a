package graft.remoting.software.lowering;

import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.FunctionIr;
import graft.remoting.software.ptx.PtxException;
import graft.remoting.software.ptx.Variable;
import java.util.List;

/** Where the parameters of kernels and of calls lie. */
final class ParameterLayout {
  private ParameterLayout() {}

  /** Where a kernel's parameter lies in the parameter buffer, in bytes. */
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
   * Room for a parameter or result of a call, in bytes, at a multiple of 16.
   *
   * @throws PtxException if it is more than a thread's local memory may have
   */
  static int slotBytes(Variable v) {
    if (v.bytes() > FunctionIr.LARGEST_FRAME) {
      throw PtxException.invalid(v.line(), "parameter '" + v.name() + "' is too large");
    }
    return (int) (v.bytes() + 15 & ~15L);
  }

  /**
   * Results first, then parameters, each at a multiple of 16: caller and callee agree on it without
   * knowing each other. A callee may declare more than its caller gives; what it reads then lies
   * behind the caller's frame, at most {@link FunctionIr#LARGEST_FRAME} bytes.
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
