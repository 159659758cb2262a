package graft.sriov.files;

import graft.sriov.HostException;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Writes an attribute in a child process.
 *
 * <p>A write to {@code unbind} or {@code sriov_numvfs} can block in the kernel without end, and no
 * signal interrupts it. A thread in that state would prevent this program from exiting. A blocked
 * child process is left running and named in the error. {@code dd} writes its input with one {@code
 * write} and reports the reason of a failure, which a shell's redirection does not.
 */
final class AttributeWriter {

  void write(String path, String file, String value, Duration limit) {
    ProcessBuilder builder =
        new ProcessBuilder(List.of("dd", "of=" + file, "bs=4096", "conv=nocreat", "status=none"));
    builder.environment().put("LC_ALL", "C");
    builder.redirectErrorStream(true).redirectOutput(Redirect.PIPE);
    Process process;
    try {
      process = builder.start();
    } catch (IOException e) {
      throw new HostException(
          "starting dd to write '" + value + "' failed: " + e.getMessage(),
          path,
          "Install coreutils",
          e);
    }
    try {
      // A write of no bytes has no effect; the kernel accepts a single newline as the empty value.
      try (OutputStream input = process.getOutputStream()) {
        input.write((value + "\n").getBytes(StandardCharsets.UTF_8));
      } catch (IOException e) {
        // dd exited before it read its input. Its error message, read below, gives the reason.
      }
      if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        String where = whereItWaits(process.pid());
        process.destroyForcibly();
        throw new WriteHangsException(path, value, limit, where);
      }
      if (process.exitValue() != 0) {
        String message =
            new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        throw new WriteFailedException(
            path,
            value,
            Errno.endingOf(message).orElse(Errno.OTHER),
            message.substring(message.lastIndexOf(": ") < 0 ? 0 : message.lastIndexOf(": ") + 2));
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new HostException("interrupted while writing '" + value + "'", path, "Look", e);
    } catch (IOException e) {
      throw new HostException("reading dd's message failed", path, "Look at dmesg", e);
    }
  }

  /** The kernel function in which the child process sleeps, from /proc (proc(5), wchan). */
  private static String whereItWaits(long pid) {
    String text = "process " + pid;
    try {
      String symbol = Files.readString(Path.of("/proc/" + pid + "/wchan")).strip();
      return symbol.isEmpty() || symbol.equals("0")
          ? text
          : text + " waits in the kernel's " + symbol;
    } catch (IOException e) {
      return text;
    }
  }
}
