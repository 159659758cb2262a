package graft.remoting.software.ptx;

/** Thrown for PTX that the device cannot run, with the line of the PTX text (from 1). */
public final class PtxException extends RuntimeException {
  private final int line;
  private final boolean unsupported;

  private PtxException(int line, String message, boolean unsupported) {
    super("PTX line " + line + ": " + message);
    this.line = line;
    this.unsupported = unsupported;
  }

  /** The text breaks the grammar or a rule of PTX. */
  public static PtxException invalid(int line, String message) {
    return new PtxException(line, message, false);
  }

  /** The text is PTX that the software device does not run. */
  public static PtxException unsupported(int line, String what) {
    return new PtxException(line, "not supported by the software device: " + what, true);
  }

  /** The line of the PTX text, counted from 1. */
  public int line() {
    return line;
  }

  /**
   * Returns whether the PTX may be valid but needs something that the software device does not
   * have.
   */
  public boolean isUnsupported() {
    return unsupported;
  }
}
