package graft.cli.terminal;

import graft.hypervisors.libvirt.calls.GuestText;
import java.io.FilterWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;

/**
 * Writes text to the terminal with control characters made visible: many messages quote a guest,
 * and the guest must not be able to send control sequences to the terminal.
 */
public final class TerminalWriter extends FilterWriter {
  private TerminalWriter(Writer out) {
    super(out);
  }

  public static PrintWriter over(PrintWriter out) {
    return new PrintWriter(new TerminalWriter(out), true);
  }

  @Override
  public void write(String text, int offset, int length) throws IOException {
    out.write(GuestText.printable(text.substring(offset, offset + length)));
  }

  @Override
  public void write(char[] text, int offset, int length) throws IOException {
    write(new String(text, offset, length), 0, length);
  }

  @Override
  public void write(int character) throws IOException {
    write(new char[] {(char) character}, 0, 1);
  }
}
