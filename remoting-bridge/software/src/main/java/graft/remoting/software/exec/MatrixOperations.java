package graft.remoting.software.exec;

import graft.remoting.software.ir.MatrixFragment;
import graft.remoting.software.ir.MatrixOperation;
import graft.remoting.software.ir.MatrixType;
import graft.remoting.software.memory.Native;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Matrix instructions of a warp (PTX ISA, "Warp Level Matrix Instructions"). */
public final class MatrixOperations {
  private static final int WARP = 32;

  /** The positions of all elements of a fragment, lane by lane. */
  private static final Map<MatrixFragment, int[]> PLACES = new ConcurrentHashMap<>();

  private MatrixOperations() {}

  // ---- a thread's words

  private static int word(int thread, int word) {
    return thread * MatrixOperation.WORDS + word;
  }

  public static void put(ThreadBlock b, int thread, int word, int value) {
    b.matrixWords[word(thread, word)] = value;
  }

  public static void putLong(ThreadBlock b, int thread, int word, long value) {
    put(b, thread, word, (int) value);
    put(b, thread, word + 1, (int) (value >>> 32));
  }

  public static int get(ThreadBlock b, int thread, int word) {
    return b.matrixWords[word(thread, word)];
  }

  public static long getLong(ThreadBlock b, int thread, int word) {
    return get(b, thread, word) & 0xffffffffL | (long) get(b, thread, word + 1) << 32;
  }

  /** Returns the bits of the element with a number, counted from one of the thread's words. */
  private static long element(ThreadBlock b, int thread, int word, int number, int bits) {
    if (bits == 64) {
      return getLong(b, thread, word + 2 * number);
    }
    int at = number * bits;
    int value = get(b, thread, word + at / 32) >>> at % 32;
    return bits == 32 ? value : value & (1 << bits) - 1;
  }

  private static void setElement(
      ThreadBlock b, int thread, int word, int number, int bits, long value) {
    if (bits == 64) {
      putLong(b, thread, word + 2 * number, value);
      return;
    }
    int at = number * bits;
    int mask = (int) ((1L << bits) - 1) << at % 32;
    int old = get(b, thread, word + at / 32);
    put(b, thread, word + at / 32, old & ~mask | (int) value << at % 32 & mask);
  }

  // ---- fragments of wmma in memory

  /** Bit offset of an element of a matrix in memory; the stride is in elements. */
  private static long offset(int place, int columns, int stride, int bits, int rowMajor) {
    int row = place / columns;
    int column = place % columns;
    long elements = rowMajor != 0 ? row * (long) stride + column : column * (long) stride + row;
    return elements * bits;
  }

  public static void loadFragment(
      ThreadBlock b,
      int thread,
      long address,
      int stride,
      int rows,
      int columns,
      int bits,
      int perLane,
      int rowMajor,
      int word) {
    for (int k = 0; k < perLane; k++) {
      int place = ((thread & 31) * perLane + k) % (rows * columns);
      long at = offset(place, columns, stride, bits, rowMajor);
      int bytes = Math.max(1, bits / 8);
      long real = Access.generic(b, address + (at >> 3), bytes, thread);
      long value =
          switch (bits) {
            case 64 -> Access.loadI64(real);
            case 32 -> Access.loadI32(real);
            case 16 -> Access.loadU16(real);
            default -> Access.loadU8(real) >>> (at & 7);
          };
      setElement(b, thread, word, k, bits, value);
    }
  }

  public static void storeFragment(
      ThreadBlock b,
      int thread,
      long address,
      int stride,
      int rows,
      int columns,
      int bits,
      int perLane,
      int rowMajor,
      int word) {
    for (int k = 0; k < perLane; k++) {
      int place = ((thread & 31) * perLane + k) % (rows * columns);
      long at = offset(place, columns, stride, bits, rowMajor);
      long real = Access.generic(b, address + (at >> 3), bits / 8, thread);
      long value = element(b, thread, word, k, bits);
      switch (bits) {
        case 64 -> Access.storeI64(real, value);
        case 32 -> Access.storeI32(real, (int) value);
        default -> Access.storeI16(real, (int) value);
      }
    }
  }

  // ---- operations of a whole warp

  /** Runs an operation for the lanes of a warp that starts at a thread. */
  static void execute(MatrixOperation operation, ThreadBlock b, int first, int group) {
    if (operation instanceof MatrixOperation.Multiply multiply) {
      multiply(multiply, b, first, group);
    } else if (operation instanceof MatrixOperation.Rows rows) {
      rows(rows, b, first, group);
    } else {
      transpose(b, first, group);
    }
  }

  private static void multiply(
      MatrixOperation.Multiply operation, ThreadBlock b, int first, int group) {
    double[] left = gather(operation.a(), MatrixOperation.A_WORDS, b, first, group);
    double[] right = gather(operation.b(), MatrixOperation.B_WORDS, b, first, group);
    double[] sums = gather(operation.c(), MatrixOperation.C_WORDS, b, first, group);
    MatrixMath.multiply(
        operation.product(), operation.d().type(), left, right, sums, operation.c().columns());
    MatrixFragment d = operation.d();
    int[] places = places(d);
    int count = d.elementsPerLane();
    for (int lane = 0; lane < WARP; lane++) {
      for (int k = 0; (group >>> lane & 1) != 0 && k < count; k++) {
        double sum = sums[places[lane * count + k]];
        long bits = MatrixMath.encode(d.type(), sum, operation.saturated());
        setElement(b, first + lane, MatrixOperation.C_WORDS, k, d.type().bits(), bits);
      }
    }
  }

  private static int[] places(MatrixFragment f) {
    return PLACES.computeIfAbsent(
        f,
        x -> {
          int count = x.elementsPerLane();
          int[] places = new int[WARP * count];
          java.util.Arrays.setAll(places, i -> x.place(i / count, i % count));
          return places;
        });
  }

  /** Returns a whole matrix as numbers; elements of absent lanes are 0. */
  private static double[] gather(MatrixFragment f, int word, ThreadBlock b, int first, int group) {
    double[] matrix = new double[f.rows() * f.columns()];
    MatrixType type = f.type();
    int[] places = places(f);
    int count = f.elementsPerLane();
    for (int lane = 0; lane < WARP; lane++) {
      for (int k = 0; (group >>> lane & 1) != 0 && k < count; k++) {
        matrix[places[lane * count + k]] =
            MatrixMath.decode(type, element(b, first + lane, word, k, type.bits()));
      }
    }
    return matrix;
  }

  /** Lanes 8m to 8m+7 have the addresses of the rows of matrix m. */
  private static void rows(MatrixOperation.Rows rows, ThreadBlock b, int first, int group) {
    for (int m = 0; m < rows.count(); m++) {
      for (int row = 0; row < 8; row++) {
        int holder = 8 * m + row;
        if ((group >>> holder & 1) == 0) {
          continue;
        }
        int thread = first + holder;
        long address = Access.generic(b, getLong(b, thread, MatrixOperation.A_WORDS), 16, thread);
        for (int column = 0; column < 8; column++) {
          int along = rows.transposed() ? row : column;
          int lane = 4 * (rows.transposed() ? column : row) + along / 2;
          if ((group >>> lane & 1) == 0) {
            continue;
          }
          long real = address + 2L * column;
          int word = MatrixOperation.C_WORDS + m;
          if (rows.store()) {
            Access.storeI16(real, (int) element(b, first + lane, word, along & 1, 16));
          } else {
            setElement(b, first + lane, word, along & 1, 16, Native.UNSAFE.getShort(real));
          }
        }
      }
    }
  }

  private static void transpose(ThreadBlock b, int first, int group) {
    for (int lane = 0; lane < WARP; lane++) {
      for (int half = 0; (group >>> lane & 1) != 0 && half < 2; half++) {
        int row = lane / 4;
        int column = 2 * (lane % 4) + half;
        int source = first + 4 * column + row / 2;
        if (source < first + WARP && (group >>> source - first & 1) != 0) {
          long value = element(b, source, MatrixOperation.A_WORDS, row & 1, 16);
          setElement(b, first + lane, MatrixOperation.C_WORDS, half, 16, value);
        }
      }
    }
  }
}
