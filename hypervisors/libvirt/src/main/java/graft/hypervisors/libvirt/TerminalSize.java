package graft.hypervisors.libvirt;

/**
 * The size of a terminal's window, in characters.
 *
 * @param rows from 1 to 65535, as the kernel's {@code struct winsize} has them
 * @param columns the same
 */
public record TerminalSize(int rows, int columns) {
  /** The size of a terminal that does not say how large it is. */
  public static final TerminalSize USUAL = new TerminalSize(24, 80);

  private static final int MOST = 65535;

  public TerminalSize {
    if (rows < 1 || rows > MOST || columns < 1 || columns > MOST) {
      throw new IllegalArgumentException("no terminal has " + rows + " rows of " + columns);
    }
  }
}
