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
 * The log of a comparison: one JSON object in each line, which is on the disk before the comparison
 * continues. A last line that a crash or a full disk truncated is ignored.
 */
public final class ResultsLog implements AutoCloseable {
  private final FileChannel channel;
  private final List<Entry> entries;

  private ResultsLog(FileChannel channel, List<Entry> entries) {
    this.channel = channel;
    this.entries = entries;
  }

  /** Opens an existing log to continue it, or creates a new one. */
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

  /** Reads a log without continuing it. */
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

  /** All entries so far. */
  public List<Entry> entries() {
    return List.copyOf(entries);
  }

  /**
   * Appends an entry.
   *
   * @throws IOException if the entry could not be written durably; the log then ends before this
   *     entry
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
