package graft.remoting.software.codegen;

import graft.remoting.software.analysis.Liveness;
import graft.remoting.software.ir.BasicBlock;
import graft.remoting.software.ir.FunctionIr;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ir.Node;
import graft.remoting.software.ir.Terminator;
import graft.remoting.software.lowering.Program;
import java.util.BitSet;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Writes the functions that a kernel calls, each as a method, and their calls. */
final class FunctionWriter {
  private static final String FUNCTION = "(L" + ExprWriter.BLOCK + ";IJJ)V";
  private static final String CALLS = "graft/remoting/software/exec/DeviceCalls";

  private final Program program;
  private final Map<String, Integer> functionIds;
  private final Map<String, String> functionMethods = new HashMap<>();
  private boolean usesDispatch;

  FunctionWriter(Program program, Map<String, Integer> functionIds) {
    this.program = program;
    this.functionIds = functionIds;
  }

  private String methodOf(String function) {
    return functionMethods.computeIfAbsent(function, f -> "function" + functionMethods.size());
  }

  /** Returns the function that a method was generated from, or the kernel. */
  FunctionIr functionOf(String method) {
    return functionMethods.entrySet().stream()
        .filter(m -> m.getValue().equals(method))
        .map(m -> program.functions().get(m.getKey()))
        .findAny()
        .orElse(program.kernel());
  }

  /** Returns whether a call by address was written, which needs {@link #writeDispatch}. */
  boolean usesDispatch() {
    return usesDispatch;
  }

  static void writeSwitch(
      MethodVisitor out,
      ExprWriter writer,
      Terminator.Switch table,
      Function<BasicBlock, Label> labelOf) {
    Label[] labels = table.targets().stream().map(labelOf).toArray(Label[]::new);
    writer.write(table.index());
    out.visitTableSwitchInsn(0, labels.length - 1, labels[labels.length - 1], labels);
  }

  /** function(block, thread, arguments, frame). */
  void writeCall(
      MethodVisitor out, ExprWriter writer, Node.Call call, Runnable frame, int frameBytes) {
    out.visitVarInsn(Opcodes.ALOAD, ExprWriter.BLOCK_LOCAL);
    out.visitVarInsn(Opcodes.ILOAD, ExprWriter.THREAD_LOCAL);
    frame.run();
    writer.plus(call.argumentOffset());
    frame.run();
    writer.plus(frameBytes + 15 & ~15);
    if (call.function() != null) {
      writer.invoke(KernelCompiler.NAME, methodOf(call.function()), FUNCTION);
    } else {
      usesDispatch = true;
      writer.write(call.target());
      writer.invoke(KernelCompiler.NAME, "dispatch", "(L" + ExprWriter.BLOCK + ";IJJJ)V");
    }
  }

  void writeFunction(ClassWriter out, FunctionIr f) {
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
      // A thread cannot stop in the middle of a call on the Java stack.
      m.visitVarInsn(Opcodes.ALOAD, 0);
      m.visitVarInsn(Opcodes.ILOAD, 1);
      writer.invoke(CALLS, "cannotWaitHere", "(L" + ExprWriter.BLOCK + ";I)V");
      m.visitInsn(Opcodes.RETURN);
    }
  }

  /** dispatch(block, thread, arguments, frame, address): a call by address. */
  void writeDispatch(ClassWriter out) {
    MethodVisitor m =
        out.visitMethod(
            Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC,
            "dispatch",
            "(L" + ExprWriter.BLOCK + ";IJJJ)V",
            null,
            null);
    m.visitCode();
    Map<Integer, String> byId = new TreeMap<>();
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
      m.visitMethodInsn(
          Opcodes.INVOKESTATIC, KernelCompiler.NAME, methodOf(byId.get(keys[i])), FUNCTION, false);
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
