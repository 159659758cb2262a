package graft.remoting.software.codegen;

import graft.remoting.software.analysis.AffineAddresses;
import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Kind;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntSupplier;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Writes the checks of a region's accesses to global memory. */
final class GlobalAccesses {
  private static final String ACCESS = "graft/remoting/software/exec/Access";
  private static final List<String> AXES = List.of("tidX", "tidY", "tidZ");

  /** When addresses are checked. */
  enum Mode {
    /** For each thread, where the address is used. */
    EACH_THREAD,
    /** Before the first thread runs, if the addresses of all threads follow from two of them. */
    ONCE_A_BLOCK
  }

  /**
   * An instruction whose addresses are checked for each thread. The allocation that was found last
   * is kept in local variables: its start, and its size in elements of the access, with the sign
   * bit flipped for an unsigned comparison.
   */
  private record Window(int number, int lowLocal, int sizeLocal) {}

  /**
   * An instruction whose addresses are checked once: local variables hold their base and strides.
   */
  private record Span(
      int number, int bytes, AffineAddresses.Address address, int baseLocal, int[] strideLocals) {}

  private final ExprWriter writer;
  private final MethodVisitor out;
  private final Mode mode;
  private final IntSupplier numbers;
  private final AffineAddresses affine;
  private final Map<Expr.Invoke, Window> windows = new IdentityHashMap<>();
  private final Map<Expr.Invoke, Span> spans = new IdentityHashMap<>();
  private boolean haveAffine;
  private int addressLocal = -1;

  /**
   * Creates a writer of checks.
   *
   * @param numbers assigns each instruction its number in the kernel
   */
  GlobalAccesses(
      ExprWriter writer,
      MethodVisitor out,
      Mode mode,
      IntSupplier numbers,
      AffineAddresses affine) {
    this.writer = writer;
    this.out = out;
    this.mode = mode;
    this.numbers = numbers;
    this.affine = affine;
  }

  /** Returns whether some addresses can be checked once. */
  boolean haveAffine() {
    return haveAffine;
  }

  /** Notes a call that is an access to global memory. */
  void collect(Expr.Invoke call) {
    if (!call.name().equals("global") || windows.containsKey(call) || spans.containsKey(call)) {
      return;
    }
    AffineAddresses.Address address = affine.of(call.arguments().get(0));
    haveAffine |= address != null;
    if (address == null || mode == Mode.EACH_THREAD) {
      windows.put(
          call,
          new Window(numbers.getAsInt(), writer.newLocal(Kind.LONG), writer.newLocal(Kind.LONG)));
      return;
    }
    address.conditions().forEach(c -> c.value().parts().forEach(writer::collect));
    address.value().parts().forEach(writer::collect);
    int[] strides = new int[AXES.size()];
    for (int k = 0; k < strides.length; k++) {
      strides[k] =
          address.value().strides().get(k) instanceof Expr.Const ? -1 : writer.newLocal(Kind.LONG);
    }
    spans.put(
        call,
        new Span(numbers.getAsInt(), bytes(call), address, writer.newLocal(Kind.LONG), strides));
  }

  private static int bytes(Expr.Invoke call) {
    return (int) ((Expr.Const) call.arguments().get(1)).bits();
  }

  /** Writes the code that precedes the loop over the threads. */
  void writeStart() {
    Label bad = new Label();
    Set<AffineAddresses.Condition> conditions = new LinkedHashSet<>();
    spans.values().forEach(s -> conditions.addAll(s.address.conditions()));
    for (AffineAddresses.Condition c : conditions) {
      out.visitVarInsn(Opcodes.ALOAD, ExprWriter.BLOCK_LOCAL);
      writer.write(c.value().base());
      c.value().strides().forEach(writer::write);
      out.visitLdcInsn(c.least());
      out.visitLdcInsn(c.most());
      writer.invoke(ACCESS, "within", "(L" + ExprWriter.BLOCK + ";JJJJJJ)Z");
      out.visitJumpInsn(Opcodes.IFEQ, bad);
    }
    spans.values().forEach(s -> writeSpan(s, bad));
    if (!spans.isEmpty()) {
      Label good = new Label();
      out.visitJumpInsn(Opcodes.GOTO, good);
      out.visitLabel(bad);
      out.visitInsn(Opcodes.ICONST_0);
      out.visitInsn(Opcodes.IRETURN);
      out.visitLabel(good);
    }
    windows.values().forEach(this::loadWindow);
  }

  private void writeSpan(Span span, Label bad) {
    AffineAddresses.Affine address = span.address.value();
    out.visitVarInsn(Opcodes.ALOAD, ExprWriter.BLOCK_LOCAL);
    writer.write(address.base());
    out.visitInsn(Opcodes.DUP2);
    writer.store(Kind.LONG, span.baseLocal);
    for (int k = 0; k < AXES.size(); k++) {
      writer.write(address.strides().get(k));
      if (span.strideLocals[k] >= 0) {
        out.visitInsn(Opcodes.DUP2);
        writer.store(Kind.LONG, span.strideLocals[k]);
      }
    }
    writer.push(span.bytes);
    writer.push(span.number);
    writer.invoke(ACCESS, "spans", "(L" + ExprWriter.BLOCK + ";JJJJII)Z");
    out.visitJumpInsn(Opcodes.IFEQ, bad);
  }

  private void loadWindow(Window window) {
    for (boolean low : new boolean[] {true, false}) {
      writer.field(low ? "windowLow" : "windowSize", "[J");
      writer.push(window.number);
      out.visitInsn(Opcodes.LALOAD);
      writer.store(Kind.LONG, low ? window.lowLocal : window.sizeLocal);
    }
  }

  /** Writes the end of the method. */
  void writeEnd() {
    if (mode == Mode.ONCE_A_BLOCK) {
      out.visitInsn(Opcodes.ICONST_1);
      out.visitInsn(Opcodes.IRETURN);
    } else {
      out.visitInsn(Opcodes.RETURN);
    }
  }

  /**
   * Writes the address of an access.
   *
   * @return false if the call is not an access
   */
  boolean write(Expr.Invoke call) {
    Window window = windows.get(call);
    if (window != null) {
      checked(call, window);
      return true;
    }
    Span span = spans.get(call);
    if (span != null) {
      known(span);
      return true;
    }
    return false;
  }

  private void known(Span span) {
    writer.load(Kind.LONG, span.baseLocal);
    for (int k = 0; k < AXES.size(); k++) {
      Expr stride = span.address.value().strides().get(k);
      if (stride.equals(AffineAddresses.ZERO)) {
        continue;
      }
      writer.write(new Expr.BlockElement(AXES.get(k), Kind.INT));
      out.visitInsn(Opcodes.I2L);
      if (span.strideLocals[k] >= 0) {
        writer.load(Kind.LONG, span.strideLocals[k]);
      } else {
        writer.write(stride);
      }
      out.visitInsn(Opcodes.LMUL);
      out.visitInsn(Opcodes.LADD);
    }
  }

  /**
   * Checks an address against the allocation that this instruction found last: the distance from
   * its start, rotated by the access's alignment, is less than the size in elements if the address
   * is inside and aligned.
   */
  private void checked(Expr.Invoke call, Window window) {
    int bytes = bytes(call);
    if (addressLocal < 0) {
      addressLocal = writer.newLocal(Kind.LONG);
    }
    writer.write(call.arguments().get(0));
    out.visitInsn(Opcodes.DUP2);
    writer.store(Kind.LONG, addressLocal);
    writer.load(Kind.LONG, window.lowLocal);
    out.visitInsn(Opcodes.LSUB);
    writer.push(Integer.numberOfTrailingZeros(bytes));
    writer.invoke("java/lang/Long", "rotateRight", "(JI)J");
    out.visitLdcInsn(Long.MIN_VALUE);
    out.visitInsn(Opcodes.LADD);
    writer.load(Kind.LONG, window.sizeLocal);
    out.visitInsn(Opcodes.LCMP);
    Label inside = new Label();
    out.visitJumpInsn(Opcodes.IFLT, inside);
    out.visitVarInsn(Opcodes.ALOAD, ExprWriter.BLOCK_LOCAL);
    writer.load(Kind.LONG, addressLocal);
    writer.push(bytes);
    writer.push(window.number);
    writer.invoke(ACCESS, "window", "(L" + ExprWriter.BLOCK + ";JII)V");
    loadWindow(window);
    out.visitLabel(inside);
    writer.load(Kind.LONG, addressLocal);
  }
}
