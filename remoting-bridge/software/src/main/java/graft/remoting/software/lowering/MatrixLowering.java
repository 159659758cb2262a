package graft.remoting.software.lowering;

import static graft.remoting.software.ir.Exprs.callWithBlock;
import static graft.remoting.software.ir.Exprs.integer;

import graft.remoting.software.ir.BasicBlock;
import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ir.MatrixFragment;
import graft.remoting.software.ir.MatrixFragment.Role;
import graft.remoting.software.ir.MatrixOperation;
import graft.remoting.software.ir.MatrixType;
import graft.remoting.software.ir.Node;
import graft.remoting.software.ir.SyncPoint;
import graft.remoting.software.ir.Terminator;
import graft.remoting.software.ptx.Operand;
import graft.remoting.software.ptx.PtxException;
import graft.remoting.software.ptx.PtxType;
import graft.remoting.software.ptx.Statement.Instruction;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions". Fragments are stored in the
 * thread's matrix words, the warp computes when all its lanes have arrived, and the result is read
 * from the words.
 */
final class MatrixLowering extends InstructionGroup {
  private static final String ACCESS = "exec/MatrixOperations";
  private static final Pattern SHAPE = Pattern.compile("\\.m(\\d+)n(\\d+)k(\\d+)");

  private final MemoryLowering memory;

  MatrixLowering(FunctionLowering at) {
    super(at);
    memory = new MemoryLowering(at);
  }

  /** Returns whether a thread may wait for others at an instruction. */
  static boolean waits(String opcode) {
    return switch (opcode) {
      case "mma", "wmma", "ldmatrix", "stmatrix", "movmatrix" -> true;
      default -> false;
    };
  }

  @Override
  boolean endsBlock(Instruction i) {
    return waits(i.opcode());
  }

  @Override
  boolean lower(Instruction i) {
    if (waits(i.opcode())) {
      at.ir().setUsesMatrices();
    }
    switch (i.opcode()) {
      case "mma" -> multiply(i, false);
      case "wmma" -> {
        switch (i.modifiers().get(0)) {
          case ".load" -> loadFragment(i);
          case ".store" -> storeFragment(i);
          default -> multiply(i, true);
        }
      }
      case "ldmatrix" -> loadRows(i);
      case "stmatrix" -> storeRows(i);
      case "movmatrix" -> {
        allow(i, ".sync", ".aligned", ".m8n8", ".trans");
        put(MatrixOperation.A_WORDS, read(i, 1, PtxType.B32));
        waitFor(new MatrixOperation.Transpose());
        write(i, 0, PtxType.B32, get(MatrixOperation.C_WORDS));
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  // ---- words of the thread

  private void put(int word, Expr value) {
    at.emit(
        new Node.Effect(
            callWithBlock(ACCESS, "put", null, new Expr.ThreadIndex(), integer(word), value)));
  }

  private static Expr get(int word) {
    return callWithBlock(ACCESS, "get", Kind.INT, new Expr.ThreadIndex(), integer(word));
  }

  private static List<Operand> elements(Operand operand) {
    return operand instanceof Operand.Vector v ? v.elements() : List.of(operand);
  }

  /** Puts the registers of a fragment into the thread's words. */
  private void putFragment(Instruction i, int operand, MatrixFragment f, int first) {
    boolean wide = f.type() == MatrixType.F64;
    List<Operand> registers = registers(i, operand, f);
    for (int k = 0; k < registers.size(); k++) {
      if (wide) {
        Expr value = at.read(registers.get(k), PtxType.B64, i.line());
        at.emit(
            new Node.Effect(
                callWithBlock(
                    ACCESS,
                    "putLong",
                    null,
                    new Expr.ThreadIndex(),
                    integer(first + 2 * k),
                    value)));
      } else {
        put(first + k, at.read(registers.get(k), PtxType.B32, i.line()));
      }
    }
  }

  private void getFragment(Instruction i, int operand, MatrixFragment f, int first) {
    List<Operand> registers = registers(i, operand, f);
    for (int k = 0; k < registers.size(); k++) {
      if (f.type() == MatrixType.F64) {
        Expr value =
            callWithBlock(
                ACCESS, "getLong", Kind.LONG, new Expr.ThreadIndex(), integer(first + 2 * k));
        at.write(registers.get(k), PtxType.B64, value, i.line());
      } else {
        at.write(registers.get(k), PtxType.B32, get(first + k), i.line());
      }
    }
  }

  private static List<Operand> registers(Instruction i, int operand, MatrixFragment f) {
    List<Operand> registers = elements(i.operands().get(operand));
    if (registers.size() != (f.type() == MatrixType.F64 ? f.words() / 2 : f.words())) {
      throw PtxException.invalid(
          i.line(), "'" + i.mnemonic() + "' with " + registers.size() + " registers in a fragment");
    }
    return registers;
  }

  private void waitFor(MatrixOperation operation) {
    BasicBlock next = new BasicBlock();
    at.end(
        new Terminator.Sync(
            at.ir().syncPoint(SyncPoint.Kind.MATRIX, operation), List.of(integer(-1)), next));
    at.continueAt(next);
  }

  // ---- products

  private static int[] shape(Instruction i) {
    for (String m : i.modifiers()) {
      Matcher matcher = SHAPE.matcher(m);
      if (matcher.matches()) {
        return new int[] {
          Integer.parseInt(matcher.group(1)),
          Integer.parseInt(matcher.group(2)),
          Integer.parseInt(matcher.group(3))
        };
      }
    }
    throw unsupported(i);
  }

  private static MatrixFragment fragment(Role role, int[] shape, MatrixType type, boolean wmma) {
    return MatrixFragment.of(role, shape[0], shape[1], shape[2], type, wmma);
  }

  private static void requireShape(Instruction i, int[] shape, MatrixType a, boolean wmma) {
    String name = (wmma ? "wmma " : "") + a + " " + shape[0] + " " + shape[1] + " " + shape[2];
    if (!MatrixShapes.ALL.contains(name)) {
      throw unsupported(i);
    }
  }

  /** The types are in the order D, A, B, C; wmma omits A and B if they are f16. */
  private void multiply(Instruction i, boolean wmma) {
    allowProduct(i);
    int[] shape = shape(i);
    List<MatrixType> types =
        i.modifiers().stream().map(MatrixType::of).filter(t -> t != null).toList();
    boolean halves = wmma && types.size() == 2;
    if (types.size() != 4 && !halves) {
      throw unsupported(i);
    }
    MatrixType a = halves ? MatrixType.F16 : types.get(1);
    MatrixType b = halves ? MatrixType.F16 : types.get(2);
    MatrixType c = types.get(halves ? 1 : 3);
    MatrixType d = types.get(0);
    requireShape(i, shape, a, wmma);
    if (a.bits() != b.bits() || !accumulates(a, c) || !accumulates(a, d)) {
      throw unsupported(i);
    }
    MatrixOperation.Multiply operation =
        new MatrixOperation.Multiply(
            fragment(Role.A, shape, a, wmma),
            fragment(Role.B, shape, b, wmma),
            fragment(Role.C, shape, c, wmma),
            fragment(Role.C, shape, d, wmma),
            product(i, a),
            i.has(".satfinite"));
    putFragment(i, 1, operation.a(), MatrixOperation.A_WORDS);
    putFragment(i, 2, operation.b(), MatrixOperation.B_WORDS);
    putFragment(i, 3, operation.c(), MatrixOperation.C_WORDS);
    waitFor(operation);
    getFragment(i, 0, operation.d(), MatrixOperation.C_WORDS);
  }

  private static void allowProduct(Instruction i) {
    Set<String> known =
        Set.of(
            ".mma",
            ".sync",
            ".aligned",
            ".row",
            ".col",
            ".satfinite",
            ".xor",
            ".and",
            ".popc",
            ".rn");
    for (String m : i.modifiers()) {
      if (!known.contains(m) && MatrixType.of(m) == null && !SHAPE.matcher(m).matches()) {
        throw unsupported(i);
      }
    }
  }

  /** Returns whether products of one type may be summed in another. */
  private static boolean accumulates(MatrixType a, MatrixType sum) {
    return switch (a) {
      case F16, E4M3, E5M2 -> sum == MatrixType.F16 || sum == MatrixType.F32;
      case BF16, TF32 -> sum == MatrixType.F32;
      case F64 -> sum == MatrixType.F64;
      case B1, U4, S4, U8, S8 -> sum == MatrixType.S32;
      default -> false;
    };
  }

  private static MatrixOperation.Product product(Instruction i, MatrixType a) {
    if (a != MatrixType.B1) {
      return MatrixOperation.Product.NUMBERS;
    }
    if (!i.has(".popc") || i.has(".and") == i.has(".xor")) {
      throw unsupported(i);
    }
    return i.has(".and") ? MatrixOperation.Product.AND : MatrixOperation.Product.XOR;
  }

  // ---- loads and stores of wmma fragments

  private MatrixFragment named(Instruction i) {
    int[] shape = shape(i);
    MatrixType type = MatrixType.of(i.modifiers().get(i.modifiers().size() - 1));
    if (type == null) {
      throw unsupported(i);
    }
    Role role = i.has(".a") ? Role.A : i.has(".b") ? Role.B : Role.C;
    if (role != Role.C) {
      requireShape(i, shape, type, true);
    }
    MatrixFragment f = fragment(role, shape, type, true);
    if (f.words() > 16 || f.elementsPerLane() == 0) {
      throw unsupported(i);
    }
    return f;
  }

  /** Each lane accesses its own elements. */
  private void access(Instruction i, String method, int address, MatrixFragment f, int word) {
    boolean rowMajor = i.has(".row");
    boolean hasStride = i.operands().size() > 2;
    Expr stride = hasStride ? read(i, 2, PtxType.U32) : integer(rowMajor ? f.columns() : f.rows());
    at.emit(
        new Node.Effect(
            callWithBlock(
                ACCESS,
                method,
                null,
                new Expr.ThreadIndex(),
                genericAddress(i, address),
                stride,
                integer(f.rows()),
                integer(f.columns()),
                integer(f.type().bits()),
                integer(f.elementsPerLane()),
                integer(rowMajor ? 1 : 0),
                integer(word))));
  }

  private Expr genericAddress(Instruction i, int operand) {
    return memory.generic(
        (Operand.Address) i.operands().get(operand), MemoryLowering.space(i), i.line());
  }

  private void loadFragment(Instruction i) {
    MatrixFragment f = named(i);
    access(i, "loadFragment", 1, f, MatrixOperation.A_WORDS);
    getFragment(i, 0, f, MatrixOperation.A_WORDS);
  }

  private void storeFragment(Instruction i) {
    MatrixFragment f = named(i);
    putFragment(i, 1, f, MatrixOperation.C_WORDS);
    access(i, "storeFragment", 0, f, MatrixOperation.C_WORDS);
  }

  // ---- rows of 8x8 matrices

  private static MatrixOperation.Rows rows(Instruction i, boolean store) {
    allow(
        i, ".sync", ".aligned", ".m8n8", ".x1", ".x2", ".x4", ".trans", ".shared", ".shared::cta");
    if (!i.has(".m8n8") || type(i) != PtxType.B16) {
      throw unsupported(i);
    }
    int count = i.has(".x4") ? 4 : i.has(".x2") ? 2 : 1;
    return new MatrixOperation.Rows(count, i.has(".trans"), store);
  }

  private void putAddress(Instruction i, int operand) {
    at.emit(
        new Node.Effect(
            callWithBlock(
                ACCESS,
                "putLong",
                null,
                new Expr.ThreadIndex(),
                integer(MatrixOperation.A_WORDS),
                genericAddress(i, operand))));
  }

  private List<Operand> rowRegisters(Instruction i, int operand, int count) {
    List<Operand> registers = elements(i.operands().get(operand));
    if (registers.size() != count) {
      throw PtxException.invalid(
          i.line(), "'" + i.mnemonic() + "' with " + registers.size() + " registers");
    }
    return registers;
  }

  private void loadRows(Instruction i) {
    MatrixOperation.Rows rows = rows(i, false);
    putAddress(i, 1);
    waitFor(rows);
    List<Operand> registers = rowRegisters(i, 0, rows.count());
    for (int k = 0; k < registers.size(); k++) {
      at.write(registers.get(k), PtxType.B32, get(MatrixOperation.C_WORDS + k), i.line());
    }
  }

  private void storeRows(Instruction i) {
    MatrixOperation.Rows rows = rows(i, true);
    putAddress(i, 0);
    List<Operand> registers = rowRegisters(i, 1, rows.count());
    for (int k = 0; k < registers.size(); k++) {
      put(MatrixOperation.C_WORDS + k, at.read(registers.get(k), PtxType.B32, i.line()));
    }
    waitFor(rows);
  }
}
