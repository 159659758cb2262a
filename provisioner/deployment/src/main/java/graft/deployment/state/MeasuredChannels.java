package graft.deployment.state;

import graft.common.GraftException;
import graft.common.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The results of {@code verify --channels}: a file for each guest, kept with the deployment until
 * it is destroyed.
 */
public final class MeasuredChannels {
  private static final String PREFIX = "guest-";
  private static final String SUFFIX = ".channels";

  private final StateFolder state;

  public MeasuredChannels(StateFolder state) {
    this.state = state;
  }

  /** Saves a measurement, replacing the earlier one. */
  public void keep(String guest, ChannelMeasurement measured) {
    Path file = state.path().resolve(PREFIX + guest + SUFFIX);
    try {
      PrivateFiles.write(
          file, (Json.line(measured.toTree()) + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new GraftException(
          "cannot keep what was measured in " + file + ": " + e.getMessage(), "", e);
    }
  }

  /** The measurements, by the names of the guests. */
  public Map<String, ChannelMeasurement> all() {
    Map<String, ChannelMeasurement> all = new TreeMap<>();
    if (!state.exists()) {
      return all;
    }
    try (Stream<Path> files = Files.list(state.path())) {
      for (Path file : files.toList()) {
        String name = file.getFileName().toString();
        if (name.startsWith(PREFIX) && name.endsWith(SUFFIX)) {
          String guest = name.substring(PREFIX.length(), name.length() - SUFFIX.length());
          all.put(guest, read(file, guest));
        }
      }
    } catch (IOException e) {
      throw new GraftException("cannot read " + state.path() + ": " + e.getMessage(), "", e);
    }
    return all;
  }

  private ChannelMeasurement read(Path file, String guest) {
    try {
      return ChannelMeasurement.parse(Files.readString(file));
    } catch (IOException e) {
      throw new GraftException(
          "cannot read what was measured from " + file + ": " + e.getMessage(),
          "graft verify --channels " + state.deployment() + " " + guest + " measures again",
          e);
    }
  }
}
