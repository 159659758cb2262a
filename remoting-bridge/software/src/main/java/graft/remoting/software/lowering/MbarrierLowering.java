package graft.remoting.software.lowering;

import static graft.remoting.software.ir.Exprs.call;
import static graft.remoting.software.ir.Exprs.callWithBlock;
import static graft.remoting.software.ir.Exprs.integer;

import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Exprs;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ir.Node;
import graft.remoting.software.ptx.Operand;
import graft.remoting.software.ptx.PtxType;
import graft.remoting.software.ptx.Space;
import graft.remoting.software.ptx.Statement.Instruction;

/**
 * PTX ISA, "mbarrier" and the asynchronous copies that complete at such barriers. Copies are made
 * immediately, which their rules allow.
 */
final class MbarrierLowering extends InstructionGroup {
  private static final String MBARRIER = "exec/Mbarrier";

  private final MemoryLowering memory;

  MbarrierLowering(FunctionLowering at) {
    super(at);
    memory = new MemoryLowering(at);
  }

  @Override
  boolean lower(Instruction i) {
    if (i.opcode().equals("mbarrier")) {
      mbarrier(i);
      return true;
    }
    if (!i.opcode().equals("cp") || !i.modifiers().get(0).equals(".async")) {
      return false;
    }
    if (i.has(".mbarrier")) {
      // Without .noinc, the arrival is not among those that the barrier expects, so that it changes
      // nothing.
      if (i.has(".noinc")) {
        at.emit(new Node.Effect(arrive(barrier(i, 0), integer(1), integer(0), integer(0))));
      }
      return true;
    }
    return i.has(".bulk") && bulk(i);
  }

  private Expr barrier(Instruction i, int operand) {
    return memory.checked(
        (Operand.Address) i.operands().get(operand), MemoryLowering.space(i), 8, i.line());
  }

  private static Expr arrive(Expr barrier, Expr count, Expr dropped, Expr bytes) {
    return call(MBARRIER, "arrive", Kind.LONG, barrier, count, dropped, bytes);
  }

  private void mbarrier(Instruction i) {
    switch (i.modifiers().get(0)) {
      case ".init" ->
          at.emit(
              new Node.Effect(
                  call(MBARRIER, "init", null, barrier(i, 0), read(i, 1, PtxType.U32))));
      case ".inval" ->
          at.emit(new Node.Effect(call(MBARRIER, "init", null, barrier(i, 0), integer(0))));
      case ".expect_tx" -> expect(i, read(i, 1, PtxType.U32));
      case ".complete_tx" -> expect(i, Exprs.negate(read(i, 1, PtxType.U32)));
      case ".arrive" -> arrival(i, false);
      case ".arrive_drop" -> arrival(i, true);
      case ".test_wait", ".try_wait" -> {
        at.block().setObservesOthers();
        boolean parity = i.has(".parity");
        write(
            i,
            0,
            PtxType.PRED,
            call(
                MBARRIER,
                parity ? "isParityComplete" : "isComplete",
                Kind.INT,
                barrier(i, 1),
                read(i, 2, parity ? PtxType.U32 : PtxType.B64)));
      }
      case ".pending_count" ->
          write(
              i, 0, PtxType.U32, call(MBARRIER, "pendingCount", Kind.INT, read(i, 1, PtxType.B64)));
      default -> throw unsupported(i);
    }
  }

  private void expect(Instruction i, Expr bytes) {
    at.emit(new Node.Effect(call(MBARRIER, "expect", null, barrier(i, 0), bytes)));
  }

  /** The state operand is omitted, or {@code _}, if the barrier may be another block's. */
  private void arrival(Instruction i, boolean drop) {
    int first = i.operands().get(0) instanceof Operand.Address ? 0 : 1;
    Expr amount = i.operands().size() > first + 1 ? read(i, first + 1, PtxType.U32) : integer(1);
    boolean bytes = i.has(".expect_tx");
    Expr count = bytes ? integer(1) : amount;
    Expr state =
        arrive(barrier(i, first), count, drop ? count : integer(0), bytes ? amount : integer(0));
    if (first == 0) {
      at.emit(new Node.Effect(state));
    } else {
      Expr once = at.copy(state, PtxType.B64);
      write(i, 0, PtxType.B64, once);
    }
  }

  private boolean bulk(Instruction i) {
    if (i.has(".commit_group") || i.has(".wait_group") || i.has(".prefetch")) {
      return true;
    }
    if (i.has(".tensor") || i.has(".cp_mask") || i.modifiers().get(1).equals(".reduce")) {
      throw unsupported(i);
    }
    if (i.has(".multicast::cluster")) {
      multicast(i);
      return true;
    }
    boolean toShared = i.modifiers().get(2).startsWith(".shared");
    boolean fromShared = i.modifiers().get(3).startsWith(".shared");
    Expr bytes = at.once(read(i, 2, PtxType.U32), PtxType.U32);
    at.emit(
        new Node.Effect(
            callWithBlock(
                "exec/Access",
                "copyBulk",
                null,
                bulkAddress(i, 0, toShared),
                bulkAddress(i, 1, fromShared),
                bytes,
                new Expr.ThreadIndex())));
    if (i.has(".mbarrier::complete_tx::bytes")) {
      Expr barrier =
          memory.checked((Operand.Address) i.operands().get(3), Space.SHARED, 8, i.line());
      at.emit(new Node.Effect(call(MBARRIER, "expect", null, barrier, Exprs.negate(bytes))));
    }
    return true;
  }

  private void multicast(Instruction i) {
    at.emit(
        new Node.Effect(
            callWithBlock(
                "exec/Cluster",
                "multicast",
                null,
                bulkAddress(i, 0, true),
                bulkAddress(i, 1, false),
                read(i, 2, PtxType.U32),
                bulkAddress(i, 3, true),
                read(i, 4, PtxType.U32),
                new Expr.ThreadIndex())));
  }

  private Expr bulkAddress(Instruction i, int operand, boolean shared) {
    return memory.generic(
        (Operand.Address) i.operands().get(operand),
        shared ? Space.SHARED : Space.GLOBAL,
        i.line());
  }
}
