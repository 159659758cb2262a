package graft.remoting.software.ptx;

/** A state space (PTX ISA, "State Spaces"). */
public enum Space {
  REG,
  CONST,
  GLOBAL,
  LOCAL,
  PARAM,
  SHARED,
  GENERIC;

  /** The space that a dotted word names ({@code .shared::cta} is shared), or null. */
  public static Space of(String dotted) {
    return switch (dotted) {
      case ".reg" -> REG;
      case ".const" -> CONST;
      case ".global", ".tex" -> GLOBAL;
      case ".local" -> LOCAL;
      case ".param", ".param::entry", ".param::func" -> PARAM;
      case ".shared", ".shared::cta", ".shared::cluster" -> SHARED;
      default -> null;
    };
  }
}
