package graft.deployment.hosts;

import graft.hypervisors.libvirt.calls.GuestText;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** Passes on what a host writes, line by line, with control characters made visible. */
final class LineOutput extends OutputStream {
  /** A longer line is passed on in parts, so that a line without end needs no memory. */
  private static final int LONGEST = 4096;

  private final Consumer<String> lines;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private String last = "";

  LineOutput(Consumer<String> lines) {
    this.lines = lines;
  }

  @Override
  public synchronized void write(int one) {
    if (one == '\n') {
      end();
    } else {
      line.write(one);
      if (line.size() >= LONGEST) {
        end();
      }
    }
  }

  private void end() {
    String text = GuestText.line(line.toString(StandardCharsets.UTF_8), LONGEST);
    line.reset();
    if (!text.isBlank()) {
      last = text;
      lines.accept(text);
    }
  }

  /** The last line that was not blank, also if it has no end. */
  synchronized String last() {
    if (line.size() > 0) {
      end();
    }
    return last;
  }
}
