package graft.remoting.software.codegen;

import graft.remoting.software.analysis.AffineAddresses;
import graft.remoting.software.analysis.Liveness;
import graft.remoting.software.analysis.Regions;
import graft.remoting.software.exec.KernelCode;
import graft.remoting.software.ir.BasicBlock;
import graft.remoting.software.ir.FunctionIr;
import graft.remoting.software.ir.SyncPoint;
import graft.remoting.software.ir.Terminator;
import graft.remoting.software.lowering.Program;
import graft.remoting.software.ptx.PtxException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodTooLargeException;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Compiles a program to a class.
 *
 * <p>A region becomes a method that loops over the threads of a block which are at the region's
 * entry. The registers that are live at the entry of a region are kept in arrays of the thread
 * block between runs, the others in local variables.
 */
public final class KernelCompiler {
  private static final String CODE = "graft/remoting/software/exec/KernelCode";

  /** The class that is written. */
  static final String NAME = "graft/remoting/software/kernel/Kernel";

  private static final String REGION = "(L" + ExprWriter.BLOCK + ";)V";
  private static final String ONCE = "(L" + ExprWriter.BLOCK + ";)Z";

  private final FunctionIr kernel;
  private final Program program;
  private final Regions regions;
  private final RegisterSlots slots;
  private final FunctionWriter functions;
  private final KernelParts parts;
  private final Set<Integer> checkedOnce = new HashSet<>();
  private int accessSites;

  /** Defines one class, which is unloaded with the kernel. */
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
    this.regions = new Regions(kernel);
    Liveness liveness = new Liveness(kernel);
    this.slots = new RegisterSlots(kernel, regions, liveness);
    this.functions = new FunctionWriter(program, functionIds);
    this.parts =
        new KernelParts(
            program,
            regions,
            liveness,
            new AffineAddresses(kernel),
            slots,
            functions,
            () -> accessSites++);
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

  /**
   * Reports a function that is too long: kernels are divided into methods, but each called function
   * is one method.
   */
  private PtxException tooLong(MethodTooLargeException method) {
    FunctionIr found = functions.functionOf(method.getMethodName());
    return PtxException.unsupported(
        found.line(),
        String.format(
            "function '%s', whose code of %,d bytes is over the 64 KiB of a Java method",
            found.name(), method.getCodeSize()));
  }

  private KernelCode compile() {
    byte[] code = write();
    try {
      Class<?> defined = new Loader(KernelCode.class.getClassLoader()).define(code);
      KernelCode made = (KernelCode) defined.getDeclaredConstructor().newInstance();
      made.describe(
          syncPoints(), resumes(), slots.ints(), slots.longs(), accessSites, kernel.usesMatrices());
      return made;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("kernel '" + kernel.name() + "' cannot be loaded", e);
    }
  }

  private SyncPoint[] syncPoints() {
    return kernel.syncPoints().toArray(SyncPoint[]::new);
  }

  /** Returns the region at which a thread continues after each synchronization point. */
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
      functions.writeFunction(out, f);
    }
    if (functions.usesDispatch()) {
      functions.writeDispatch(out);
    }
    out.visitEnd();
    return out.toByteArray();
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

  /**
   * Writes a region. If it has addresses that can be checked once for all threads, a second method
   * does so. That method is tried first; it gives up before any thread has run if one of those
   * addresses is invalid.
   */
  private void writeRegion(Writer out, Regions.Region region) {
    String name = "region" + region.id();
    MethodVisitor m =
        out.visitMethod(Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC, name, REGION, null, null);
    RegionWriter each = new RegionWriter(region, m, GlobalAccesses.Mode.EACH_THREAD, parts);
    each.write();
    if (each.hasAffineAccesses()) {
      m = out.visitMethod(Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC, name, ONCE, null, null);
      new RegionWriter(region, m, GlobalAccesses.Mode.ONCE_A_BLOCK, parts).write();
      checkedOnce.add(region.id());
    }
  }
}
