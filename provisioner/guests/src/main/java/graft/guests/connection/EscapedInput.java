package graft.guests.connection;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * What is typed at a terminal in raw mode, with ssh's way out: {@code ~.} at the beginning of a
 * line is the end of the input, and {@code ~~} there is one tilde. Without it, nothing would end a
 * program that ignores its keys, since Ctrl-C is such a key too. A console has virsh's way out
 * besides: Ctrl-] anywhere.
 */
final class EscapedInput extends FilterInputStream {
  private static final int TILDE = '~';

  /** Ctrl-], with which virsh and telnet leave. */
  private static final int CTRL_BRACKET = 0x1d;

  private static final int NO_KEY = -1;

  private final int leavingKey;
  private final Runnable leave;
  private boolean lineBegins = true;
  private boolean tilde;
  private boolean left;

  /**
   * Wraps what is typed.
   *
   * @param leave what {@code ~.} does
   */
  EscapedInput(InputStream typed, Runnable leave) {
    this(typed, leave, NO_KEY);
  }

  private EscapedInput(InputStream typed, Runnable leave, int leavingKey) {
    super(typed);
    this.leave = leave;
    this.leavingKey = leavingKey;
  }

  /** What is typed at a console, which both {@code ~.} and Ctrl-] end. */
  static EscapedInput ofConsole(InputStream typed) {
    return new EscapedInput(typed, () -> {}, CTRL_BRACKET);
  }

  /** Keys are read in pieces only: one key can give two bytes, a tilde that was held back first. */
  @Override
  public int read() {
    throw new UnsupportedOperationException();
  }

  /**
   * Reads at least one byte, unless the input is at its end.
   *
   * @param most at least 2
   */
  @Override
  public int read(byte[] into, int from, int most) throws IOException {
    int kept = 0;
    while (kept == 0 && !left) {
      byte[] typed = new byte[most - 1];
      int count = in.read(typed);
      if (count < 0) {
        return -1;
      }
      for (int i = 0; i < count && !left; i++) {
        kept = keep(typed[i], into, from, kept);
      }
    }
    return left && kept == 0 ? -1 : kept;
  }

  private int keep(byte key, byte[] into, int from, int kept) {
    int count = kept;
    if (key == leavingKey) {
      left = true;
      leave.run();
      return count;
    }
    if (tilde) {
      tilde = false;
      if (key == '.') {
        left = true;
        leave.run();
        return count;
      }
      if (key != TILDE) {
        into[from + count++] = TILDE;
      }
    } else if (lineBegins && key == TILDE) {
      tilde = true;
      return count;
    }
    lineBegins = key == '\r' || key == '\n';
    into[from + count++] = key;
    return count;
  }
}
