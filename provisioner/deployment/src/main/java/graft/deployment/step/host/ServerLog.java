package graft.deployment.step.host;

import graft.common.GraftException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * What a server has printed: a file, or where systemd keeps it. The server's user may have put
 * anything where the file was, so that no link is followed.
 */
public final class ServerLog {
  private static final int PAUSE_MILLIS = 200;

  /** The most that is read of a file at once. */
  private static final int MOST = 4 << 20;

  private final Path file;
  private final List<String> units;

  private ServerLog(Path file, List<String> units) {
    this.file = file;
    this.units = units;
  }

  static ServerLog file(Path file) {
    return new ServerLog(file, List.of());
  }

  static ServerLog units(List<String> units) {
    return new ServerLog(null, List.copyOf(units));
  }

  /** Where the log is, for messages. */
  public String where() {
    return file == null ? "the journal of " + String.join(" and ", units) : file.toString();
  }

  /**
   * Gives the last lines to a reader, the oldest first.
   *
   * @param follow whether to go on with new lines, until this thread is interrupted
   * @throws GraftException if there is no log
   */
  public void read(int lines, boolean follow, Consumer<String> reader)
      throws IOException, InterruptedException {
    if (file == null) {
      readJournal(lines, follow, reader);
    } else {
      readFile(lines, follow, reader);
    }
  }

  private void readJournal(int lines, boolean follow, Consumer<String> reader)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("journalctl", "--no-pager", "--quiet"));
    command.add("--lines=" + lines);
    units.forEach(unit -> command.add("--unit=" + unit));
    if (follow) {
      command.add("--follow");
    }
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    Thread end = new Thread(process::destroy);
    Runtime.getRuntime().addShutdownHook(end);
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line; (line = in.readLine()) != null; ) {
        reader.accept(line);
      }
    } finally {
      process.destroy();
    }
    int status = process.waitFor();
    if (status != 0) {
      throw new GraftException(
          "journalctl ended with status " + status, "run " + String.join(" ", command));
    }
  }

  private void readFile(int lines, boolean follow, Consumer<String> reader)
      throws IOException, InterruptedException {
    Object which = identity();
    if (which == null) {
      throw new GraftException("there is no log " + file, "see graft status");
    }
    long end = size();
    String last = text(Math.max(0, end - MOST), end);
    List<String> all = last.lines().toList();
    all.subList(Math.max(0, all.size() - lines), all.size()).forEach(reader);
    long shown = end - unfinished(last);
    while (follow) {
      Thread.sleep(PAUSE_MILLIS);
      Object now = identity();
      if (now == null) {
        continue; // between two files
      }
      // A log that has become too large is renamed, and a new one begun.
      if (!now.equals(which) || size() < shown) {
        which = now;
        shown = 0;
      }
      String more = text(shown, Math.min(size(), shown + MOST));
      int whole = more.lastIndexOf('\n') + 1;
      more.substring(0, whole).lines().forEach(reader);
      shown += more.substring(0, whole).getBytes(StandardCharsets.ISO_8859_1).length;
    }
  }
