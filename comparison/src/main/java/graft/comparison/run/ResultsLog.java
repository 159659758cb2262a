package graft.comparison.run;

import graft.common.json.Json;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * What has happened so far: one JSON object a line, each on the disk before the next thing is done.
 * A last line that a crash or a full disk cut off is as if it had not been written.
 */
public final class ResultsLog implements AutoCloseable {
  private final FileChannel channel;
  private final List<Entry> entries;

  private ResultsLog(FileChannel channel, List<Entry> entries) {
    this.channel = channel;
    this.entries = entries;
  }

  /** Opens a log to go on with it, or makes a new one. */
  public static ResultsLog open(Path file) throws IOException {
    FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    try {
      if (channel.tryLock() == null) {
        throw new IOException("another graft compare works on " + file);
      }
      byte[] text = Files.readAllBytes(file);
      int whole = text.length;
      while (whole > 0 && text[whole - 1] != '\n') {
        whole--;
      }
      channel.truncate(whole);
      channel.position(whole);
      return new ResultsLog(
          channel, parse(file, new String(text, 0, whole, StandardCharsets.UTF_8)));
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  /** Reads a log without going on with it. */
  public static List<Entry> read(Path file) throws IOException {
    String text = Files.readString(file);
    return parse(file, text.substring(0, text.lastIndexOf('\n') + 1));
  }

  private static List<Entry> parse(Path file, String text) throws IOException {
    List<Entry> entries = new ArrayList<>();
    int number = 0;
    for (String line : text.lines().toList()) {
      number++;
      try {
        entries.add(Entry.read(Json.readObject(line)));
      } catch (IOException | IllegalArgumentException e) {
        throw new IOException(
            file + ":" + number + ": not a line of a results log: " + e.getMessage(), e);
      }
    }
    return entries;
  }

  /** All that has happened. */
  public List<Entry> entries() {
    return List.copyOf(entries);
  }

  /**
   * Writes an entry down.
   *
   * @throws IOException if it is not safely on the disk; then the log ends before it
   */
  public void add(Entry entry) throws IOException {
    long end = channel.position();
    try {
      byte[] line = (Json.line(Entry.write(entry)) + "\n").getBytes(StandardCharsets.UTF_8);
      ByteBuffer buffer = ByteBuffer.wrap(line);
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
      channel.force(false);
    } catch (IOException e) {
      channel.truncate(end);
      throw e;
    }
    entries.add(entry);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
