package graft.remoting.software.lowering;

import java.util.Set;

/** The shapes of matrices that the warp's matrix instructions support. */
final class MatrixShapes {
  /** The shapes of mma by the type of A; a wmma shape is named by "wmma" and the type. */
  static final Set<String> ALL =
      Set.of(
          "F16 16 8 8",
          "F16 16 8 16",
          "BF16 16 8 8",
          "BF16 16 8 16",
          "TF32 16 8 4",
          "TF32 16 8 8",
          "F64 8 8 4",
          "F64 16 8 4",
          "F64 16 8 8",
          "F64 16 8 16",
          "E4M3 16 8 16",
          "E4M3 16 8 32",
          "E5M2 16 8 16",
          "E5M2 16 8 32",
          "S8 8 8 16",
          "S8 16 8 16",
          "S8 16 8 32",
          "U8 8 8 16",
          "U8 16 8 16",
          "U8 16 8 32",
          "S4 8 8 32",
          "S4 16 8 32",
          "S4 16 8 64",
          "U4 8 8 32",
          "U4 16 8 32",
          "U4 16 8 64",
          "B1 8 8 128",
          "B1 16 8 128",
          "B1 16 8 256",
          "wmma F16 16 16 16",
          "wmma F16 32 8 16",
          "wmma F16 8 32 16",
          "wmma BF16 16 16 16",
          "wmma BF16 32 8 16",
          "wmma BF16 8 32 16",
          "wmma S8 16 16 16",
          "wmma S8 32 8 16",
          "wmma S8 8 32 16",
          "wmma U8 16 16 16",
          "wmma U8 32 8 16",
          "wmma U8 8 32 16",
          "wmma TF32 16 16 8",
          "wmma F64 8 8 4",
          "wmma S4 8 8 32",
          "wmma U4 8 8 32",
          "wmma B1 8 8 128");

  private MatrixShapes() {}
}
