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
