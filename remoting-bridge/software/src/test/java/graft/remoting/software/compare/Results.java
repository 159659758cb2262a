package graft.remoting.software.compare;

/** Compares a result of the software device with one of a GPU. */
final class Results {
  private Results() {}

  /** Whether two results are equal, or near enough where the instruction is approximate. */
  static boolean agree(InstructionCases.Case c, long a, long b) {
    return switch (c.result()) {
      case "f32" -> floats((int) a, (int) b, c.ulps());
      case "b32 tf32" -> floats((int) a & ~0x1fff, (int) b & ~0x1fff, 0);
      case "f64" ->
          a == b
              || Double.isNaN(Double.longBitsToDouble(a))
                  && Double.isNaN(Double.longBitsToDouble(b))
              || Math.abs(a - b) <= c.ulps();
      case "f16" -> halves((int) a, (int) b, 0x7c00, c.ulps());
      case "bf16" -> halves((int) a, (int) b, 0x7f80, c.ulps());
      case "f16x2" ->
          halves((int) a & 0xffff, (int) b & 0xffff, 0x7c00, c.ulps())
              && halves((int) a >>> 16, (int) b >>> 16, 0x7c00, c.ulps());
      case "bf16x2" ->
          halves((int) a & 0xffff, (int) b & 0xffff, 0x7f80, c.ulps())
              && halves((int) a >>> 16, (int) b >>> 16, 0x7f80, c.ulps());
      default -> a == b;
    };
  }

  /** A result with the bits of a NaN, which are not defined, made the same. */
  static long canonical(InstructionCases.Case c, long v) {
    return switch (c.result()) {
      case "f32" -> Float.isNaN(Float.intBitsToFloat((int) v)) ? 0x7fffffff : v;
      case "b32 tf32" -> Float.isNaN(Float.intBitsToFloat((int) v)) ? 0x7fffffff : v & ~0x1fff;
      case "f64" -> Double.isNaN(Double.longBitsToDouble(v)) ? Long.MAX_VALUE : v;
      case "f16" -> half((int) v, 0x7c00);
      case "bf16" -> half((int) v, 0x7f80);
      case "f16x2" -> half((int) v & 0xffff, 0x7c00) | (long) half((int) v >>> 16, 0x7c00) << 16;
      case "bf16x2" -> half((int) v & 0xffff, 0x7f80) | (long) half((int) v >>> 16, 0x7f80) << 16;
      default -> v;
    };
  }

  private static int half(int v, int infinity) {
    return (v & 0x7fff) > infinity ? 0x7fff : v & 0xffff;
  }

  /** One number for all rows of a case. */
  static long hash(InstructionCases.Case c, long[] rows) {
    long hash = 0xcbf29ce484222325L;
    for (long row : rows) {
      hash = (hash ^ canonical(c, row)) * 0x100000001b3L;
      hash ^= hash >>> 29;
    }
    return hash;
  }

  private static boolean floats(int a, int b, int ulps) {
    if (a == b || Float.isNaN(Float.intBitsToFloat(a)) && Float.isNaN(Float.intBitsToFloat(b))) {
      return true;
    }
    return ulps > 0 && a < 0 == b < 0 && Math.abs(a - b) <= ulps
        || ulps > 0
            && Math.abs(Float.intBitsToFloat(a)) + Math.abs(Float.intBitsToFloat(b)) < 1e-44f;
  }

  private static boolean halves(int a, int b, int infinity, int ulps) {
    boolean nan = (a & 0x7fff) > infinity && (b & 0x7fff) > infinity;
    return a == b || nan || (a & 0x8000) == (b & 0x8000) && Math.abs(a - b) <= ulps;
  }
}
