package graft.remoting.software.lowering;

import static graft.remoting.software.ir.Exprs.integer;

import graft.remoting.software.ir.BasicBlock;
import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Exprs;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ir.Node;
import graft.remoting.software.ir.SyncPoint;
import graft.remoting.software.ir.Terminator;
import graft.remoting.software.ptx.Operand;
import graft.remoting.software.ptx.PtxException;
import graft.remoting.software.ptx.PtxType;
import graft.remoting.software.ptx.Statement.Instruction;
import java.util.List;
import org.objectweb.asm.Opcodes;

/** PTX ISA, "Parallel Synchronization and Communication Instructions", except atomics. */
final class SyncLowering extends InstructionGroup {
  SyncLowering(FunctionLowering at) {
    super(at);
  }

  @Override
  boolean endsBlock(Instruction i) {
    return switch (i.opcode()) {
      case "bar", "barrier", "shfl", "vote", "match", "redux", "activemask", "elect" -> true;
      default -> false;
    };
  }

  @Override
  boolean lower(Instruction i) {
    switch (i.opcode()) {
      case "bar", "barrier" -> barrier(i);
      case "shfl" -> shuffle(i);
      case "vote" -> vote(i);
      case "match" -> match(i);
      case "redux" -> reduce(i);
      case "activemask" -> {
        waitAt(SyncPoint.Kind.ACTIVE_MASK, -1, List.of());
        write(i, 0, PtxType.B32, result(0));
      }
      case "elect" -> {
        waitAt(SyncPoint.Kind.ELECT, -1, List.of(read(i, 1, PtxType.B32)));
        writePair(i, i.operands().get(0));
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  private static Expr result(int k) {
    return new Expr.BlockElement("result" + k, Kind.INT);
  }

  private void waitAt(SyncPoint.Kind kind, int constantBarrier, List<Expr> arguments) {
    BasicBlock next = new BasicBlock();
    at.end(new Terminator.Sync(at.ir().syncPoint(kind, constantBarrier), arguments, next));
    at.continueAt(next);
  }

  private void writePair(Instruction i, Operand target) {
    if (target instanceof Operand.Pair pair) {
      at.write(pair.first(), PtxType.B32, result(0), i.line());
      at.write(pair.second(), PtxType.PRED, result(1), i.line());
    } else {
      at.write(target, PtxType.B32, result(0), i.line());
    }
  }

  private void requireSync(Instruction i) {
    if (!i.has(".sync")) {
      throw PtxException.unsupported(
          i.line(), "'" + i.mnemonic() + "' without .sync (removed from PTX for sm_70 and later)");
    }
  }

  private void barrier(Instruction i) {
    if (i.has(".cluster")) {
      if (i.has(".wait")) {
        awaitCluster();
      } else {
        at.emit(
            new Node.Effect(
                Exprs.callWithBlock("exec/Cluster", "arrive", null, new Expr.ThreadIndex())));
      }
      return;
    }
    if (i.has(".warp")) {
      waitAt(SyncPoint.Kind.WARP_SYNC, -1, List.of(read(i, 0, PtxType.B32)));
      return;
    }
    boolean reduction = i.has(".red");
    int first = reduction ? 1 : 0;
    int operands = i.operands().size() - first - (reduction ? 1 : 0);
    Expr barrier = read(i, first, PtxType.U32);
    Expr count = operands > 1 ? read(i, first + 1, PtxType.U32) : integer(0);
    if (i.has(".arrive")) {
      at.emit(
          new Node.Effect(Exprs.callWithBlock("exec/ThreadBlock", "arrive", null, barrier, count)));
      return;
    }
    if (!reduction) {
      int constant = operands == 1 && barrier instanceof Expr.Const c ? (int) c.bits() : -1;
      waitAt(SyncPoint.Kind.BARRIER, constant, List.of(barrier, count));
      return;
    }
    Expr predicate = at.predicate(i.operands().get(i.operands().size() - 1), i.line());
    SyncPoint.Kind kind =
        i.has(".popc")
            ? SyncPoint.Kind.BARRIER_POPC
            : i.has(".and") ? SyncPoint.Kind.BARRIER_AND : SyncPoint.Kind.BARRIER_OR;
    waitAt(kind, -1, List.of(barrier, count, predicate));
    write(i, 0, i.has(".popc") ? PtxType.U32 : PtxType.PRED, result(0));
  }

  /** Lets other threads run until all threads of the cluster have arrived. */
  private void awaitCluster() {
    BasicBlock look = new BasicBlock();
    BasicBlock closed = new BasicBlock();
    BasicBlock open = new BasicBlock();
    at.end(new Terminator.Jump(look));
    Expr isOpen = Exprs.callWithBlock("exec/Cluster", "isOpen", Kind.INT, new Expr.ThreadIndex());
    look.setEnd(new Terminator.Branch(isOpen, open, closed));
    closed.setEnd(
        new Terminator.Sync(at.ir().syncPoint(SyncPoint.Kind.YIELD, -1), List.of(), look));
    at.continueAt(open);
  }

  private void shuffle(Instruction i) {
    requireSync(i);
    SyncPoint.Kind kind =
        i.has(".up")
            ? SyncPoint.Kind.SHUFFLE_UP
            : i.has(".down")
                ? SyncPoint.Kind.SHUFFLE_DOWN
                : i.has(".bfly") ? SyncPoint.Kind.SHUFFLE_BFLY : SyncPoint.Kind.SHUFFLE_IDX;
    waitAt(
        kind,
        -1,
        List.of(
            read(i, 1, PtxType.B32),
            read(i, 2, PtxType.B32),
            read(i, 3, PtxType.B32),
            read(i, 4, PtxType.B32)));
    writePair(i, i.operands().get(0));
  }

  private void vote(Instruction i) {
    requireSync(i);
    SyncPoint.Kind kind =
        i.has(".all")
            ? SyncPoint.Kind.VOTE_ALL
            : i.has(".any")
                ? SyncPoint.Kind.VOTE_ANY
                : i.has(".uni") ? SyncPoint.Kind.VOTE_UNI : SyncPoint.Kind.VOTE_BALLOT;
    waitAt(kind, -1, List.of(at.predicate(i.operands().get(1), i.line()), read(i, 2, PtxType.B32)));
    write(i, 0, kind == SyncPoint.Kind.VOTE_BALLOT ? PtxType.B32 : PtxType.PRED, result(0));
  }

  private void match(Instruction i) {
    requireSync(i);
    boolean wide = type(i).bits() == 64;
    Expr value = read(i, 1, wide ? PtxType.B64 : PtxType.B32);
    Expr low = value;
    Expr high = integer(0);
    if (wide) {
      value = at.once(value, PtxType.B64);
      low = Exprs.convert(Opcodes.L2I, Kind.INT, value);
      high =
          Exprs.convert(
              Opcodes.L2I,
              Kind.INT,
              new Expr.Apply(Opcodes.LUSHR, Kind.LONG, List.of(value, integer(32))));
    }
    waitAt(
        i.has(".any") ? SyncPoint.Kind.MATCH_ANY : SyncPoint.Kind.MATCH_ALL,
        -1,
        List.of(low, high, read(i, 2, PtxType.B32)));
    writePair(i, i.operands().get(0));
  }

  private void reduce(Instruction i) {
    requireSync(i);
    PtxType t = type(i);
    if (t.isFloat()) {
      throw unsupported(i);
    }
    boolean signed = t.isSigned();
    SyncPoint.Kind kind =
        i.has(".add")
            ? SyncPoint.Kind.REDUX_ADD
            : i.has(".and")
                ? SyncPoint.Kind.REDUX_AND
                : i.has(".or")
                    ? SyncPoint.Kind.REDUX_OR
                    : i.has(".xor")
                        ? SyncPoint.Kind.REDUX_XOR
                        : i.has(".min")
                            ? (signed ? SyncPoint.Kind.REDUX_MIN_S : SyncPoint.Kind.REDUX_MIN_U)
                            : (signed ? SyncPoint.Kind.REDUX_MAX_S : SyncPoint.Kind.REDUX_MAX_U);
    waitAt(kind, -1, List.of(read(i, 1, PtxType.B32), read(i, 2, PtxType.B32)));
    write(i, 0, PtxType.B32, result(0));
  }
}
