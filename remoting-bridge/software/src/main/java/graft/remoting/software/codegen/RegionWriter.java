package graft.remoting.software.codegen;

import graft.remoting.software.analysis.Liveness;
import graft.remoting.software.analysis.Regions;
import graft.remoting.software.exec.KernelCode;
import graft.remoting.software.ir.BasicBlock;
import graft.remoting.software.ir.FunctionIr;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ir.Node;
import graft.remoting.software.ir.Register;
import graft.remoting.software.ir.SyncPoint;
import graft.remoting.software.ir.Terminator;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Writes a region: a loop over the threads of a block that are at its entry. The registers that are
 * live there are loaded from the block's arrays first, and saved where the thread leaves the
 * region.
 */
final class RegionWriter {
  private static final int COUNT_LOCAL = 2;
  private static final int PC_LOCAL = 3;
  private static final int INTS_LOCAL = 4;
  private static final int LONGS_LOCAL = 5;

  private final KernelParts kernelParts;
  private final FunctionIr kernel;
  private final Regions regions;
  private final Liveness liveness;
  private final Regions.Region region;
  private final MethodVisitor out;
  private final ExprWriter writer;
  private final Map<BasicBlock, Label> labels = new IdentityHashMap<>();
  private final Map<BasicBlock, Label> leaving = new IdentityHashMap<>();
  private final Label nextThread = new Label();
  private final Label exit = new Label();
  private final GlobalAccesses accesses;
  private boolean exits;
  private int frame = -1;

  RegionWriter(
      Regions.Region region, MethodVisitor out, GlobalAccesses.Mode mode, KernelParts parts) {
    this.region = region;
    this.out = out;
    this.kernelParts = parts;
    this.kernel = parts.program().kernel();
    this.regions = parts.regions();
    this.liveness = parts.liveness();
    this.writer = new ExprWriter(out, LONGS_LOCAL + 1, parts.program().symbols(), this::call);
    this.accesses = new GlobalAccesses(writer, out, mode, parts.accessSites(), parts.affine());
    writer.setAccesses(accesses);
  }

  void write() {
    out.visitCode();
    writer.field("threads", "I");
    out.visitVarInsn(Opcodes.ISTORE, COUNT_LOCAL);
    object("pc", "[I", PC_LOCAL);
    object("ints", "[I", INTS_LOCAL);
    object("longs", "[J", LONGS_LOCAL);
    for (BasicBlock b : region.blocks()) {
      b.nodes().forEach(writer::collect);
      collect(b.end());
    }
    writer.writeHoisted();
    accesses.writeStart();
    writer.push(0);
    out.visitVarInsn(Opcodes.ISTORE, ExprWriter.THREAD_LOCAL);
    Label loop = new Label();
    Label done = new Label();
    out.visitLabel(loop);
    out.visitVarInsn(Opcodes.ILOAD, ExprWriter.THREAD_LOCAL);
    out.visitVarInsn(Opcodes.ILOAD, COUNT_LOCAL);
    out.visitJumpInsn(Opcodes.IF_ICMPGE, done);
    if (regions.regions().size() > 1) {
      out.visitVarInsn(Opcodes.ALOAD, PC_LOCAL);
      out.visitVarInsn(Opcodes.ILOAD, ExprWriter.THREAD_LOCAL);
      out.visitInsn(Opcodes.IALOAD);
      writer.push(region.id());
      out.visitJumpInsn(Opcodes.IF_ICMPNE, nextThread);
    }
    if (usesFrame()) {
      frame = writer.newLocal(Kind.LONG);
      writer.setFrameLocal(frame);
      writer.field("localBase", "J");
      writer.field("localStride", "I");
      out.visitVarInsn(Opcodes.ILOAD, ExprWriter.THREAD_LOCAL);
      out.visitInsn(Opcodes.IMUL);
      out.visitInsn(Opcodes.I2L);
      out.visitInsn(Opcodes.LADD);
      writer.store(Kind.LONG, frame);
    }
    loadLive();
    List<BasicBlock> blocks = region.blocks();
    blocks.forEach(b -> labels.put(b, new Label()));
    for (int i = 0; i < blocks.size(); i++) {
      BasicBlock b = blocks.get(i);
      out.visitLabel(labels.get(b));
      b.nodes().forEach(writer::write);
      end(b.end(), i + 1 < blocks.size() ? blocks.get(i + 1) : null);
    }
    for (Map.Entry<BasicBlock, Label> e : new ArrayList<>(leaving.entrySet())) {
      out.visitLabel(e.getValue());
      saveLive(liveness.atStart(e.getKey()));
      setPc(regions.idOf(e.getKey()));
      out.visitJumpInsn(Opcodes.GOTO, nextThread);
    }
    if (exits) {
      out.visitLabel(exit);
      if (regions.regions().size() > 1) {
        setPc(KernelCode.EXITED);
      }
    }
    out.visitLabel(nextThread);
    out.visitIincInsn(ExprWriter.THREAD_LOCAL, 1);
    out.visitJumpInsn(Opcodes.GOTO, loop);
    out.visitLabel(done);
    accesses.writeEnd();
    out.visitMaxs(0, 0);
    out.visitEnd();
  }

  /** Returns whether some address can be checked once for all threads of a block. */
  boolean hasAffineAccesses() {
    return accesses.haveAffine();
  }

  private void object(String field, String descriptor, int local) {
    writer.field(field, descriptor);
    out.visitVarInsn(Opcodes.ASTORE, local);
  }

  private void collect(Terminator end) {
    if (end instanceof Terminator.Branch b) {
      writer.collect(b.condition());
    } else if (end instanceof Terminator.Switch s) {
      writer.collect(s.index());
    } else if (end instanceof Terminator.Sync s) {
      s.arguments().forEach(writer::collect);
    }
  }

  /**
   * Returns whether the frame is needed. A call needs it too: the callee's own frame follows it.
   */
  private boolean usesFrame() {
    return kernel.frameBytes() > 0 || !kernel.callees().isEmpty() || kernel.callsByAddress();
  }

  private void loadLive() {
    BitSet live = liveness.atStart(region.entry());
    for (int i = live.nextSetBit(0); i >= 0; i = live.nextSetBit(i + 1)) {
      Register r = kernel.registers().get(i);
      if (region.id() == 0) {
        writer.clearRegister(r); // read before it is written: undefined in PTX
        continue;
      }
      slotIndex(r);
      out.visitInsn(RegisterSlots.isLong(r) ? Opcodes.LALOAD : Opcodes.IALOAD);
      if (r.kind() == Kind.FLOAT) {
        writer.invoke("java/lang/Float", "intBitsToFloat", "(I)F");
      } else if (r.kind() == Kind.DOUBLE) {
        writer.invoke("java/lang/Double", "longBitsToDouble", "(J)D");
      }
      writer.storeRegister(r);
    }
  }

  /** Writes the array and the index of this thread's copy of a register. */
  private void slotIndex(Register r) {
    out.visitVarInsn(Opcodes.ALOAD, RegisterSlots.isLong(r) ? LONGS_LOCAL : INTS_LOCAL);
    int slot = kernelParts.slots().of(r);
    if (slot > 0) {
      writer.push(slot);
      out.visitVarInsn(Opcodes.ILOAD, COUNT_LOCAL);
      out.visitInsn(Opcodes.IMUL);
      out.visitVarInsn(Opcodes.ILOAD, ExprWriter.THREAD_LOCAL);
      out.visitInsn(Opcodes.IADD);
    } else {
      out.visitVarInsn(Opcodes.ILOAD, ExprWriter.THREAD_LOCAL);
    }
  }

  private void saveLive(BitSet live) {
    for (int i = live.nextSetBit(0); i >= 0; i = live.nextSetBit(i + 1)) {
      Register r = kernel.registers().get(i);
      slotIndex(r);
      writer.loadRegister(r);
      if (r.kind() == Kind.FLOAT) {
        writer.invoke("java/lang/Float", "floatToRawIntBits", "(F)I");
      } else if (r.kind() == Kind.DOUBLE) {
        writer.invoke("java/lang/Double", "doubleToRawLongBits", "(D)J");
      }
      out.visitInsn(RegisterSlots.isLong(r) ? Opcodes.LASTORE : Opcodes.IASTORE);
    }
  }

  private void setPc(int value) {
    out.visitVarInsn(Opcodes.ALOAD, PC_LOCAL);
    out.visitVarInsn(Opcodes.ILOAD, ExprWriter.THREAD_LOCAL);
    writer.push(value);
    out.visitInsn(Opcodes.IASTORE);
  }

  /**
   * Returns the label for a jump to a block: inside the region, or out of it, with the live
   * registers saved.
   */
  private Label labelOf(BasicBlock target) {
    Label inside = labels.get(target);
    if (inside != null) {
      return inside;
    }
    return leaving.computeIfAbsent(target, t -> new Label());
  }

  private void end(Terminator end, BasicBlock following) {
    if (end instanceof Terminator.Jump jump) {
      if (jump.target() != following) {
        out.visitJumpInsn(Opcodes.GOTO, labelOf(jump.target()));
      }
    } else if (end instanceof Terminator.Branch branch) {
      if (branch.taken() == following) {
        writer.jump(branch.condition(), false, labelOf(branch.other()));
      } else {
        writer.jump(branch.condition(), true, labelOf(branch.taken()));
        if (branch.other() != following) {
          out.visitJumpInsn(Opcodes.GOTO, labelOf(branch.other()));
        }
      }
    } else if (end instanceof Terminator.Switch table) {
      FunctionWriter.writeSwitch(out, writer, table, this::labelOf);
    } else if (end instanceof Terminator.Sync sync) {
      sync(sync);
    } else {
      exits = true;
      out.visitJumpInsn(Opcodes.GOTO, exit);
    }
  }

  private void sync(Terminator.Sync sync) {
    SyncPoint point = sync.point();
    if (point.constantBarrier() < 0) {
      int count = sync.arguments().size();
      for (int k = 0; k < count; k++) {
        boolean mask = point.kind().isWarp() && k == count - 1;
        writer.field(mask ? "mask" : "argument" + k, "[I");
        out.visitVarInsn(Opcodes.ILOAD, ExprWriter.THREAD_LOCAL);
        writer.write(sync.arguments().get(k));
        out.visitInsn(Opcodes.IASTORE);
      }
    }
    saveLive(liveness.atStart(sync.next()));
    setPc(KernelCode.waiting(point.id()));
    out.visitJumpInsn(Opcodes.GOTO, nextThread);
  }

  private void call(Node.Call call) {
    kernelParts
        .functions()
        .writeCall(out, writer, call, () -> writer.load(Kind.LONG, frame), kernel.frameBytes());
  }
}
