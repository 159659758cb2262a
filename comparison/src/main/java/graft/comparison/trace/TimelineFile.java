package graft.comparison.trace;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;

/**
 * A file of the Trace Event Format's JSON Array Format, as {@code client/src/api/trace_file.c}
 * writes it: an event on each line. The file of a program that was killed has no closing bracket,
 * and may end within an event.
 */
public final class TimelineFile {
  /** The client writes lines of 16 KiB at most. */
  private static final int LONGEST_LINE = 1 << 16;

  private TimelineFile() {}

  /** Receives events. */
  interface Events {
    void add(String object) throws IOException;
  }

  /** Reads the events of a file. What is no event, or is longer than any, is left out. */
  static void read(Path file, Events events) throws IOException {
    try (Reader in =
        new BufferedReader(
            new InputStreamReader(Files.newInputStream(file), StandardCharsets.UTF_8), 1 << 16)) {
      StringBuilder line = new StringBuilder();
      for (int c = in.read(); c >= 0; c = in.read()) {
        if (c != '\n') {
          if (line.length() <= LONGEST_LINE) {
            line.append((char) c);
          }
          continue;
        }
        pass(line, events);
        line.setLength(0);
      }
      pass(line, events);
    }
  }

  private static void pass(StringBuilder line, Events events) throws IOException {
    int end = line.length();
    if (end > 0 && line.charAt(end - 1) == ',') {
      end--;
    }
    if (end > 1 && end < LONGEST_LINE && line.charAt(0) == '{' && line.charAt(end - 1) == '}') {
      events.add(line.substring(0, end));
    }
  }

  /**
   * Puts the events of several files, one of each process, into one.
   *
   * @return the number of events
   */
  public static long merge(Collection<Path> files, Path to) throws IOException {
    long[] count = {0};
    try (Writer out =
        new BufferedWriter(Files.newBufferedWriter(to, StandardCharsets.UTF_8), 1 << 16)) {
      out.write("[");
      for (Path file : files) {
        read(
            file,
            event -> {
              out.write(count[0]++ == 0 ? "\n" : ",\n");
              out.write(event);
            });
      }
      out.write("\n]\n");
    }
    return count[0];
  }
}
