package graft.remoting.software.codegen;

import graft.remoting.software.exec.KernelCode;
import graft.remoting.software.ir.AffineAddresses;
import graft.remoting.software.ir.BasicBlock;
import graft.remoting.software.ir.FunctionIr;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ir.Liveness;
import graft.remoting.software.ir.Node;
import graft.remoting.software.ir.Program;
import graft.remoting.software.ir.Regions;
import graft.remoting.software.ir.Register;
import graft.remoting.software.ir.SyncPoint;
import graft.remoting.software.ir.Terminator;
import graft.remoting.software.ptx.PtxException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodTooLargeException;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Turns a program into a class.
 *
 * <p>A region becomes a method that loops over the threads of a block which are at its entry. The
 * registers that are live at the entry of a region lie in arrays of the thread block between runs,
 * the others in local variables.
 */
public final class KernelCompiler {
  private static final String CODE = "graft/remoting/software/exec/KernelCode";
  private static final String NAME = "graft/remoting/software/kernel/Kernel";
  private static final String REGION = "(L" + ExprWriter.BLOCK + ";)V";
  private static final String ONCE = "(L" + ExprWriter.BLOCK + ";)Z";
  private static final String FUNCTION = "(L" + ExprWriter.BLOCK + ";IJJ)V";
  private static final String CALLS = "graft/remoting/software/exec/DeviceCalls";

  private static final int COUNT_LOCAL = 2;
  private static final int PC_LOCAL = 3;
  private static final int INTS_LOCAL = 4;
  private static final int LONGS_LOCAL = 5;

  private final Program program;
  private final FunctionIr kernel;
  private final Map<String, Integer> functionIds;
  private final Regions regions;
  private final Liveness liveness;
  private final AffineAddresses affine;
  private final Set<Integer> checkedOnce = new HashSet<>();
  private final Map<Register, Integer> slots = new HashMap<>();
  private final Map<String, String> functionMethods = new HashMap<>();
  private boolean usesDispatch;
  private int accessSites;
  private int intSlots;
  private int longSlots;

  /** Defines one class; it goes when the kernel does. */
  private static final class Loader extends ClassLoader {
    Loader(ClassLoader parent) {
      super(parent);
    }

    Class<?> define(byte[] code) {
      return defineClass(NAME.replace('/', '.'), code, 0, code.length);
    }
  }

  /** Frames are computed by ASM; the few reference types need no common superclass. */
  private static final class Writer extends ClassWriter {
    Writer() {
      super(COMPUTE_FRAMES);
    }

    @Override
    protected String getCommonSuperClass(String a, String b) {
      return "java/lang/Object";
    }
  }

  private KernelCompiler(Program program, Map<String, Integer> functionIds) {
    this.program = program;
    this.kernel = program.kernel();
    this.functionIds = functionIds;
    this.regions = new Regions(kernel);
    this.liveness = new Liveness(kernel);
    this.affine = new AffineAddresses(kernel);
    for (Regions.Region r : regions.regions()) {
      BitSet live = liveness.atStart(r.entry());
      for (int i = live.nextSetBit(0); r.id() > 0 && i >= 0; i = live.nextSetBit(i + 1)) {
        slots.computeIfAbsent(kernel.registers().get(i), x -> isLong(x) ? longSlots++ : intSlots++);
      }
    }
  }

  private static boolean isLong(Register r) {
    return r.kind() == Kind.LONG || r.kind() == Kind.DOUBLE;
  }

  /**
   * Compiles a program.
   *
   * @param functionIds the module's numbers of the functions that may be called by address
   * @throws PtxException if a function is too long
   */
  public static KernelCode compile(Program program, Map<String, Integer> functionIds) {
    KernelCompiler compiler = new KernelCompiler(program, functionIds);
    try {
      return compiler.compile();
    } catch (MethodTooLargeException e) {
      throw compiler.tooLong(e);
    }
  }

  /** Kernels are cut into methods; functions that are called are one each. */
  private PtxException tooLong(MethodTooLargeException method) {
    String function =
        functionMethods.entrySet().stream()
            .filter(m -> m.getValue().equals(method.getMethodName()))
            .map(Map.Entry::getKey)
            .findAny()
            .orElse(kernel.name());
    FunctionIr found = program.functions().getOrDefault(function, kernel);
    return PtxException.unsupported(
        found.line(),
        String.format(
            "function '%s', whose code of %,d bytes is over the 64 KiB of a Java method",
            function, method.getCodeSize()));
  }

  private KernelCode compile() {
    byte[] code = write();
    try {
      Class<?> defined = new Loader(KernelCode.class.getClassLoader()).define(code);
      KernelCode made = (KernelCode) defined.getDeclaredConstructor().newInstance();
      made.describe(
          syncPoints(), resumes(), intSlots, longSlots, accessSites, kernel.usesMatrices());
      return made;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("kernel '" + kernel.name() + "' cannot be loaded", e);
    }
  }

  private SyncPoint[] syncPoints() {
    return kernel.syncPoints().toArray(SyncPoint[]::new);
  }

  /** Region at which a thread goes on after each synchronization point. */
  private int[] resumes() {
    int[] result = new int[kernel.syncPoints().size()];
    for (BasicBlock b : kernel.blocks()) {
      if (b.end() instanceof Terminator.Sync sync) {
        result[sync.point().id()] = regions.idOf(sync.next());
      }
    }
    return result;
  }

  private byte[] write() {
    Writer out = new Writer();
    out.visit(Opcodes.V11, Opcodes.ACC_PUBLIC | Opcodes.ACC_FINAL, NAME, null, CODE, null);
    MethodVisitor init = out.visitMethod(Opcodes.ACC_PUBLIC, "<init>", "()V", null, null);
    init.visitCode();
    init.visitVarInsn(Opcodes.ALOAD, 0);
    init.visitMethodInsn(Opcodes.INVOKESPECIAL, CODE, "<init>", "()V", false);
    init.visitInsn(Opcodes.RETURN);
    init.visitMaxs(0, 0);
    init.visitEnd();
    for (Regions.Region r : regions.regions()) {
      writeRegion(out, r);
    }
    writeRun(out);
    for (FunctionIr f : program.functions().values()) {
      writeFunction(out, f);
    }
    if (usesDispatch) {
      writeDispatch(out);
    }
    out.visitEnd();
    return out.toByteArray();
  }

  private String methodOf(String function) {
    return functionMethods.computeIfAbsent(function, f -> "function" + functionMethods.size());
  }

  /** run(block, region): a switch over the regions. */
  private void writeRun(Writer out) {
    MethodVisitor m =
        out.visitMethod(Opcodes.ACC_PUBLIC, "run", "(L" + ExprWriter.BLOCK + ";I)V", null, null);
    m.visitCode();
    int count = regions.regions().size();
    Label[] labels = new Label[count];
    for (int i = 0; i < count; i++) {
      labels[i] = new Label();
    }
    Label end = new Label();
    m.visitVarInsn(Opcodes.ILOAD, 2);
    m.visitTableSwitchInsn(0, count - 1, end, labels);
    for (int i = 0; i < count; i++) {
      m.visitLabel(labels[i]);
      if (checkedOnce.contains(i)) {
        m.visitVarInsn(Opcodes.ALOAD, 1);
        m.visitMethodInsn(Opcodes.INVOKESTATIC, NAME, "region" + i, ONCE, false);
        m.visitJumpInsn(Opcodes.IFNE, end);
      }
      m.visitVarInsn(Opcodes.ALOAD, 1);
      m.visitMethodInsn(Opcodes.INVOKESTATIC, NAME, "region" + i, REGION, false);
      m.visitInsn(Opcodes.RETURN);
    }
    m.visitLabel(end);
    m.visitInsn(Opcodes.RETURN);
    m.visitMaxs(0, 0);
    m.visitEnd();
  }

  // ---- regions

  /** What is needed while one region is written. */
  private final class RegionWriter {
    final Regions.Region region;
    final MethodVisitor out;
    final ExprWriter writer;
    final Map<BasicBlock, Label> labels = new IdentityHashMap<>();
    final Map<BasicBlock, Label> leaving = new IdentityHashMap<>();
    final Label nextThread = new Label();
    final Label exit = new Label();
    final GlobalAccesses accesses;
    boolean exits;
    int frame = -1;

    RegionWriter(Regions.Region region, MethodVisitor out, GlobalAccesses.Mode mode) {
      this.region = region;
      this.out = out;
      this.writer = new ExprWriter(out, LONGS_LOCAL + 1, program.symbols(), this::call);
      this.accesses = new GlobalAccesses(writer, out, mode, () -> accessSites++, affine);
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

    /** A call needs the frame too: the callee's own lies after it. */
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
        out.visitInsn(isLong(r) ? Opcodes.LALOAD : Opcodes.IALOAD);
        if (r.kind() == Kind.FLOAT) {
          writer.invoke("java/lang/Float", "intBitsToFloat", "(I)F");
        } else if (r.kind() == Kind.DOUBLE) {
          writer.invoke("java/lang/Double", "longBitsToDouble", "(J)D");
        }
        writer.storeRegister(r);
      }
    }

    /** Array and index of this thread's copy of a register. */
    private void slotIndex(Register r) {
      out.visitVarInsn(Opcodes.ALOAD, isLong(r) ? LONGS_LOCAL : INTS_LOCAL);
      int slot = slots.get(r);
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
        out.visitInsn(isLong(r) ? Opcodes.LASTORE : Opcodes.IASTORE);
      }
    }

    private void setPc(int value) {
      out.visitVarInsn(Opcodes.ALOAD, PC_LOCAL);
      out.visitVarInsn(Opcodes.ILOAD, ExprWriter.THREAD_LOCAL);
      writer.push(value);
      out.visitInsn(Opcodes.IASTORE);
    }

    /** Where to go for a block: inside the region, or out of it with the live registers saved. */
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
        writeSwitch(out, writer, table, this::labelOf);
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
      writeCall(out, writer, call, () -> writer.load(Kind.LONG, frame), kernel.frameBytes());
    }
  }

  /**
   * Writes a region, and if it has addresses that can be checked once for all threads a second
   * method that does so. That one comes first; it gives up, before any thread ran, if one of those
   * addresses is not good.
   */
  private void writeRegion(Writer out, Regions.Region region) {
    String name = "region" + region.id();
    MethodVisitor m =
        out.visitMethod(Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC, name, REGION, null, null);
    RegionWriter each = new RegionWriter(region, m, GlobalAccesses.Mode.EACH_THREAD);
    each.write();
    if (each.accesses.haveAffine()) {
      m = out.visitMethod(Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC, name, ONCE, null, null);
      new RegionWriter(region, m, GlobalAccesses.Mode.ONCE_A_BLOCK).write();
      checkedOnce.add(region.id());
    }
  }

  private static void writeSwitch(
      MethodVisitor out,
      ExprWriter writer,
      Terminator.Switch table,
      java.util.function.Function<BasicBlock, Label> labelOf) {
    Label[] labels = table.targets().stream().map(labelOf).toArray(Label[]::new);
    writer.write(table.index());
    out.visitTableSwitchInsn(0, labels.length - 1, labels[labels.length - 1], labels);
  }

  /** function(block, thread, arguments, frame). */
  private void writeCall(
      MethodVisitor out, ExprWriter writer, Node.Call call, Runnable frame, int frameBytes) {
    out.visitVarInsn(Opcodes.ALOAD, ExprWriter.BLOCK_LOCAL);
    out.visitVarInsn(Opcodes.ILOAD, ExprWriter.THREAD_LOCAL);
    frame.run();
    writer.plus(call.argumentOffset());
    frame.run();
    writer.plus(frameBytes + 15 & ~15);
    if (call.function() != null) {
      writer.invoke(NAME, methodOf(call.function()), FUNCTION);
    } else {
      usesDispatch = true;
      writer.write(call.target());
      writer.invoke(NAME, "dispatch", "(L" + ExprWriter.BLOCK + ";IJJJ)V");
    }
  }

  // ---- functions

  private void writeFunction(Writer out, FunctionIr f) {
    MethodVisitor m =
        out.visitMethod(
            Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC, methodOf(f.name()), FUNCTION, null, null);
    m.visitCode();
    ExprWriter[] holder = new ExprWriter[1];
    ExprWriter writer =
        new ExprWriter(
            m,
            6,
            program.symbols(),
            call ->
                writeCall(m, holder[0], call, () -> holder[0].load(Kind.LONG, 4), f.frameBytes()));
    holder[0] = writer;
    writer.setArgumentLocal(2);
    writer.setFrameLocal(4);
    for (BasicBlock b : f.blocks()) {
      b.nodes().forEach(writer::collect);
      if (b.end() instanceof Terminator.Branch branch) {
        writer.collect(branch.condition());
      } else if (b.end() instanceof Terminator.Switch table) {
        writer.collect(table.index());
      }
    }
    m.visitVarInsn(Opcodes.ALOAD, 0);
    m.visitVarInsn(Opcodes.ILOAD, 1);
    m.visitVarInsn(Opcodes.LLOAD, 4);
    writer.plus(f.frameBytes());
    writer.invoke(CALLS, "checkStack", "(L" + ExprWriter.BLOCK + ";IJ)V");
    writer.writeHoisted();
    BitSet live = new Liveness(f).atStart(f.start());
    for (int i = live.nextSetBit(0); i >= 0; i = live.nextSetBit(i + 1)) {
      writer.clearRegister(f.registers().get(i));
    }
    Map<BasicBlock, Label> labels = new IdentityHashMap<>();
    f.blocks().forEach(b -> labels.put(b, new Label()));
    for (int i = 0; i < f.blocks().size(); i++) {
      BasicBlock b = f.blocks().get(i);
      m.visitLabel(labels.get(b));
      b.nodes().forEach(writer::write);
      functionEnd(m, writer, b.end(), labels);
    }
    m.visitMaxs(0, 0);
    m.visitEnd();
  }

  private static void functionEnd(
      MethodVisitor m, ExprWriter writer, Terminator end, Map<BasicBlock, Label> labels) {
    if (end instanceof Terminator.Jump jump) {
      m.visitJumpInsn(Opcodes.GOTO, labels.get(jump.target()));
    } else if (end instanceof Terminator.Branch branch) {
      writer.jump(branch.condition(), true, labels.get(branch.taken()));
      m.visitJumpInsn(Opcodes.GOTO, labels.get(branch.other()));
    } else if (end instanceof Terminator.Switch table) {
      writeSwitch(m, writer, table, labels::get);
    } else if (end instanceof Terminator.Return) {
      m.visitInsn(Opcodes.RETURN);
    } else {
      // A thread cannot be left in the middle of a call on the Java stack.
      m.visitVarInsn(Opcodes.ALOAD, 0);
      m.visitVarInsn(Opcodes.ILOAD, 1);
      writer.invoke(CALLS, "cannotWaitHere", "(L" + ExprWriter.BLOCK + ";I)V");
      m.visitInsn(Opcodes.RETURN);
    }
  }

  /** dispatch(block, thread, arguments, frame, address): a call by address. */
  private void writeDispatch(Writer out) {
    MethodVisitor m =
        out.visitMethod(
            Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC,
            "dispatch",
            "(L" + ExprWriter.BLOCK + ";IJJJ)V",
            null,
            null);
    m.visitCode();
    Map<Integer, String> byId = new java.util.TreeMap<>();
    program.functions().keySet().forEach(n -> byId.put(functionIds.get(n), n));
    int[] keys = byId.keySet().stream().mapToInt(Integer::intValue).toArray();
    Label[] labels = new Label[keys.length];
    for (int i = 0; i < labels.length; i++) {
      labels[i] = new Label();
    }
    Label none = new Label();
    m.visitVarInsn(Opcodes.LLOAD, 6);
    m.visitMethodInsn(Opcodes.INVOKESTATIC, CALLS, "functionId", "(J)I", false);
    m.visitLookupSwitchInsn(none, keys, labels);
    for (int i = 0; i < labels.length; i++) {
      m.visitLabel(labels[i]);
      m.visitVarInsn(Opcodes.ALOAD, 0);
      m.visitVarInsn(Opcodes.ILOAD, 1);
      m.visitVarInsn(Opcodes.LLOAD, 2);
      m.visitVarInsn(Opcodes.LLOAD, 4);
      m.visitMethodInsn(Opcodes.INVOKESTATIC, NAME, methodOf(byId.get(keys[i])), FUNCTION, false);
      m.visitInsn(Opcodes.RETURN);
    }
    m.visitLabel(none);
    m.visitVarInsn(Opcodes.ALOAD, 0);
    m.visitVarInsn(Opcodes.ILOAD, 1);
    m.visitVarInsn(Opcodes.LLOAD, 6);
    m.visitMethodInsn(
        Opcodes.INVOKESTATIC, CALLS, "noFunction", "(L" + ExprWriter.BLOCK + ";IJ)V", false);
    m.visitInsn(Opcodes.RETURN);
    m.visitMaxs(0, 0);
    m.visitEnd();
  }
}
