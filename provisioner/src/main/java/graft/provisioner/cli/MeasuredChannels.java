package graft.provisioner.cli;

import graft.provisioner.GraftException;
import graft.provisioner.state.PrivateFiles;
import graft.provisioner.state.StateFolder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What {@code verify --channels} found, a line for each guest, kept with the set-up until it is
 * destroyed: {@code status} and {@code plan} show it.
 */
final class MeasuredChannels {
  private static final String PREFIX = "guest-";
  private static final String SUFFIX = ".channels";

  private final StateFolder state;

  MeasuredChannels(StateFolder state) {
    this.state = state;
  }

  /** Keeps a guest's rows of {@link ChannelProbe} in the place of earlier ones. */
  void keep(String guest, List<Map<String, Object>> rows, Instant when) {
    String figures = rows.stream().map(MeasuredChannels::figure).collect(Collectors.joining(", "));
    String line =
        "measured "
            + when.truncatedTo(ChronoUnit.SECONDS)
            + ": "
            + figures
            + "; "
            + ChannelProbe.choice(rows);
    Path file = state.path().resolve(PREFIX + guest + SUFFIX);
    try {
      PrivateFiles.write(file, line.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new GraftException(
          "cannot keep what was measured in " + file + ": " + e.getMessage(), "", e);
    }
  }

  private static String figure(Map<String, Object> row) {
    String figure =
        ChannelProbe.works(row) ? ChannelProbe.bandwidth(row) + " MB/s" : "does not work";
    return row.get("path") + " " + figure;
  }

  /** The line of each guest that was measured, by name. */
  Map<String, String> all() {
    Map<String, String> lines = new TreeMap<>();
    if (!Files.isDirectory(state.path())) {
      return lines;
    }
    try (Stream<Path> files = Files.list(state.path())) {
      for (Path file : files.toList()) {
        String name = file.getFileName().toString();
        if (name.startsWith(PREFIX) && name.endsWith(SUFFIX)) {
          lines.put(
              name.substring(PREFIX.length(), name.length() - SUFFIX.length()),
              Files.readString(file));
        }
      }
    } catch (IOException e) {
      throw new GraftException("cannot read " + state.path() + ": " + e.getMessage(), "", e);
    }
    return lines;
  }

  /** What {@link #all} found for people, a line for each guest; empty if nothing was measured. */
  static String text(Map<String, String> lines) {
    return lines.entrySet().stream()
        .map(line -> "channels of " + line.getKey() + ", " + line.getValue())
        .collect(Collectors.joining("\n"));
  }
}
