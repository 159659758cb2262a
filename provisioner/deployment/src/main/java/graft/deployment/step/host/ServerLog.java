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
import java.util.function.Predicate;

/**
 * What a server has printed: a file, or where systemd keeps it. The server's user may have put
 * anything where the file was, so that no link is followed.
 */
public final class ServerLog {
  private static final int PAUSE_MILLIS = 200;

  /** The most that is read of a file at once. */
  private static final int MOST = 4 << 20;

  /** How many lines of the journal are searched for chosen ones. */
  private static final int SEARCHED = 50_000;

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

  /** Returns the last of the chosen lines, the oldest first. */
  public List<String> last(int lines, Predicate<String> chosen)
      throws IOException, InterruptedException {
    List<String> all = new ArrayList<>();
    Consumer<String> add =
        line -> {
          if (chosen.test(line)) {
            all.add(line);
          }
        };
    if (file == null) {
      readJournal(List.of("--lines=" + SEARCHED), add);
    } else {
      existing().text().lines().forEach(add);
    }
    return all.subList(Math.max(0, all.size() - lines), all.size());
  }

  /**
   * Gives the last lines and then new ones to a reader, until this thread is interrupted.
   *
   * @param lines how many lines there are at the beginning, before some are chosen
   */
  public void follow(int lines, Predicate<String> chosen, Consumer<String> reader)
      throws IOException, InterruptedException {
    Consumer<String> give =
        line -> {
          if (chosen.test(line)) {
            reader.accept(line);
          }
        };
    if (file == null) {
      readJournal(List.of("--follow", "--lines=" + lines), give);
      return;
    }
    Part part = existing();
    List<String> all = part.text().lines().toList();
    all.subList(Math.max(0, all.size() - lines), all.size()).forEach(give);
    while (true) {
      Thread.sleep(PAUSE_MILLIS);
      Part more = part(part.of(), part.end());
      if (more != null) { // else between two files
        part = more;
        part.text().lines().forEach(give);
      }
    }
  }

  private void readJournal(List<String> options, Consumer<String> reader)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("journalctl", "--no-pager", "--quiet"));
    command.addAll(options);
    units.forEach(unit -> command.add("--unit=" + unit));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
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

  /**
   * Opens a log. The server's user may have put anything in its place, at any moment: no link is
   * followed, and since the file is opened for writing as well, a FIFO does not wait for another
   * program (fifo(7)). A FIFO and a socket have no position, so that only a regular file can be
   * read.
   */
  static FileChannel open(Path log) throws IOException {
    return FileChannel.open(
        log, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
  }

  private Part existing() throws IOException {
    Part part = part(null, 0);
    if (part == null) {
      throw new GraftException("there is no log " + file, "see graft status");
    }
    return part;
  }

  /**
   * Whole lines of the file.
   *
   * @param of the file's identity: a log that has become too large is renamed, and a new one begun
   * @param end where in the file they end
   */
  private record Part(Object of, String text, long end) {}

  /**
   * Reads whole lines from a place in the file. Another file than {@code of}, or one that has
   * become shorter, is read from its beginning; the first time, its last part.
   *
   * @return null if there is no file
   */
  private Part part(Object of, long shown) throws IOException {
    try (FileChannel in = open(file)) {
      Object now = Files.getAttribute(file, "unix:ino", LinkOption.NOFOLLOW_LINKS);
      long size = in.size();
      long from = now.equals(of) && size >= shown ? shown : of == null ? size - MOST : 0;
      from = Math.max(0, from);
      ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(MOST, size - from));
      in.position(from);
      while (bytes.hasRemaining() && in.read(bytes) > 0) {
        // until the end
      }
      int whole = bytes.position();
      while (whole > 0 && bytes.get(whole - 1) != '\n') {
        whole--;
      }
      // A line that is longer than what is read at once is given in pieces.
      int given = whole == 0 && bytes.position() == MOST ? MOST : whole;
      return new Part(
          now, new String(bytes.array(), 0, given, StandardCharsets.UTF_8), from + given);
    } catch (NoSuchFileException e) {
      return null;
    }
  }
}
