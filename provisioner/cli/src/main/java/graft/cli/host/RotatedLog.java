package graft.cli.host;

import graft.common.audit.RotatedFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** The server's log in a file whose size is limited. */
final class RotatedLog extends OutputStream {
  private static final long LARGEST = 10 << 20;
  private static final int KEPT = 3;
  private static final int LONGEST_LINE = 64 << 10;

  private final RotatedFile file;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();

  private RotatedLog(RotatedFile file) {
    this.file = file;
  }

  /**
   * Makes the file the standard error of this Java runtime.
   *
   * @throws IOException if the file cannot be written
   */
  static void takeStandardError(Path log) throws IOException {
    RotatedFile file = new RotatedFile(log, LARGEST, KEPT);
    file.append(new byte[0], 0, 0);
    System.setErr(new PrintStream(new RotatedLog(file), true, StandardCharsets.UTF_8));
  }

  @Override
  public synchronized void write(int one) throws IOException {
    line.write(one);
    if (one == '\n' || line.size() >= LONGEST_LINE) {
      writeLine();
    }
  }

  @Override
  public synchronized void write(byte[] bytes, int from, int length) throws IOException {
    line.write(bytes, from, length);
    if (length > 0 && (bytes[from + length - 1] == '\n' || line.size() >= LONGEST_LINE)) {
      writeLine();
    }
  }

  private void writeLine() throws IOException {
    byte[] all = line.toByteArray();
    line.reset();
    file.append(all, 0, all.length);
  }
}
