package graft.remoting.software.lowering;

import static graft.remoting.software.ir.Exprs.call;
import static graft.remoting.software.ir.Exprs.integer;

import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ptx.Operand;
import graft.remoting.software.ptx.PtxException;
import graft.remoting.software.ptx.PtxType;
import graft.remoting.software.ptx.Statement.Instruction;
import java.util.List;

/**
 * PTX ISA, "SIMD Video Instructions", in the form that CUDA's SIMD functions ({@code __vsadu4})
 * use: on whole words, without masks and selectors.
 */
final class VideoLowering extends InstructionGroup {
  private static final List<String> OPERATIONS =
      List.of("vadd", "vsub", "vabsdiff", "vmin", "vmax");

  VideoLowering(FunctionLowering at) {
    super(at);
  }

  @Override
  boolean lower(Instruction i) {
    String opcode = i.opcode();
    boolean four = opcode.endsWith("4");
    int operation =
        four || opcode.endsWith("2")
            ? OPERATIONS.indexOf(opcode.substring(0, opcode.length() - 1))
            : -1;
    if (operation < 0) {
      return false;
    }
    if (i.operands().stream().anyMatch(Operand.Component.class::isInstance)) {
      throw PtxException.unsupported(i.line(), "'" + i.mnemonic() + "' with a mask or a selector");
    }
    allow(i, ".sat", ".add");
    int signs = 0;
    for (int k = 0; k < 3; k++) {
      signs |= types(i).get(k).isSigned() ? 1 << k : 0;
    }
    Expr a = read(i, 1, PtxType.B32);
    Expr b = read(i, 2, PtxType.B32);
    Expr which = integer(operation);
    Expr bits = integer(four ? 8 : 16);
    Expr sign = integer(signs);
    Expr value =
        i.has(".add")
            ? call(
                "math/VideoMath", "sum", Kind.INT, a, b, read(i, 3, PtxType.B32), which, bits, sign)
            : call(
                "math/VideoMath",
                "lanes",
                Kind.INT,
                a,
                b,
                which,
                bits,
                sign,
                integer(i.has(".sat") ? 1 : 0));
    write(i, 0, PtxType.B32, value);
    return true;
  }
}
