package graft.comparison.results;

import graft.common.GraftException;
import graft.common.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Measurements in the order in which they were made, one for each setting and figure.
 *
 * <p>A results file is a sequence of JSON objects: each is a {@link Measurement}, or has a list of
 * measurements under the key {@code measurements}. The samples of lines with the same setting and
 * figure are joined.
 */
public final class Results {
  private final List<Measurement> measurements = new ArrayList<>();

  /** Adds a measurement; its samples join existing samples of the same setting and figure. */
  public Results add(Measurement added) {
    for (int i = 0; i < measurements.size(); i++) {
      Measurement before = measurements.get(i);
      if (before.setting().equals(added.setting()) && before.isSameFigure(added)) {
        List<Double> samples = new ArrayList<>(before.samples());
        samples.addAll(added.samples());
        measurements.set(
            i,
            new Measurement(
                before.setting(),
                before.name(),
                before.size(),
                before.unit(),
                before.state(),
                samples));
        return this;
      }
    }
    measurements.add(added);
    return this;
  }

  /** Adds several measurements. */
  public void addAll(List<Measurement> added) {
    added.forEach(this::add);
  }

  /** Adds all measurements of a file. */
  public Results add(Path file) {
    try {
      for (Map<String, Object> tree : Json.readObjects(Files.readString(file))) {
        if (tree.get("measurements") instanceof List<?> list) {
          list.forEach(each -> add(read(each)));
        } else {
          add(Measurement.read(tree));
        }
      }
      return this;
    } catch (NoSuchFileException e) {
      throw new GraftException("cannot read " + file + ": no such file", "", e);
    } catch (IOException | IllegalArgumentException e) {
      throw new GraftException(
          file + " is not a results file: " + e.getMessage(),
          "its lines are like {\"setting\":\"tcp\",\"name\":\"copy\",\"unit\":\"us\",\"samples\":[1.5]}",
          e);
    }
  }

  private static Measurement read(Object tree) {
    if (tree instanceof Map<?, ?> map) {
      return Measurement.read(map);
    }
    throw new IllegalArgumentException("not a measurement: " + tree);
  }

  /**
   * The lines of a program's output that are measurements; a program may print other lines too.
   *
   * @throws IllegalArgumentException at a line that begins as a measurement and is none
   */
  public static List<Measurement> printed(String output) {
    List<Measurement> found = new ArrayList<>();
    for (String line : output.lines().filter(l -> l.startsWith("{\"name\":")).toList()) {
      try {
        found.add(Measurement.read(Json.readObject(line)));
      } catch (IOException | IllegalArgumentException e) {
        throw new IllegalArgumentException("not a measurement: " + line, e);
      }
    }
    return found;
  }

  public List<Measurement> measurements() {
    return List.copyOf(measurements);
  }

  /** The settings, in the order of their first measurements. */
  public List<String> settings() {
    return measurements.stream().map(Measurement::setting).distinct().toList();
  }

  /** The figures, whatever the setting: one measurement of each, in order. */
  public List<Measurement> figures() {
    List<Measurement> figures = new ArrayList<>();
    for (Measurement measurement : measurements) {
      if (figures.stream().noneMatch(measurement::isSameFigure)) {
        figures.add(measurement);
      }
    }
    return figures;
  }

  /** A setting's samples of a figure; empty if it was not measured there, or always failed. */
  public Optional<Measurement> at(String setting, Measurement figure) {
    return measurements.stream()
        .filter(m -> m.setting().equals(setting) && m.isSameFigure(figure))
        .findFirst();
  }

  /** The median of a setting over that of another one; empty if either has no sample. */
  public Optional<Double> ratio(String setting, String reference, Measurement figure) {
    Optional<Double> base = at(reference, figure).filter(Results::hasValue).map(Measurement::value);
    return at(setting, figure)
        .filter(Results::hasValue)
        .filter(m -> base.isPresent() && base.get() != 0)
        .map(m -> m.value() / base.get());
  }

  /**
   * The ratios of single samples to a reference that was measured before the first sample, between
   * every two, and after the last. Since a machine's performance changes with its load, each sample
   * is compared with the mean of the two reference samples beside it.
   */
  public List<Double> ratiosAround(String setting, String reference, Measurement figure) {
    List<Double> samples = at(setting, figure).map(Measurement::samples).orElse(List.of());
    List<Double> references = at(reference, figure).map(Measurement::samples).orElse(List.of());
    List<Double> ratios = new ArrayList<>();
    for (int i = 0; i < samples.size(); i++) {
      double base =
          references.stream()
              .skip(i)
              .limit(2)
              .filter(Objects::nonNull)
              .mapToDouble(Double::doubleValue)
              .average()
              .orElse(0);
      if (samples.get(i) != null && base != 0) {
        ratios.add(samples.get(i) / base);
      }
    }
    return ratios;
  }

  static boolean hasValue(Measurement measurement) {
    return !measurement.measured().isEmpty();
  }

  /** The states that were measured. */
  Set<State> states() {
    Set<State> states = new LinkedHashSet<>();
    measurements.forEach(m -> states.add(m.state()));
    return states;
  }

  /** All measurements as a tree for JSON, with facts of the machine. */
  public Map<String, Object> tree(Map<String, String> machine) {
    return Map.of("machine", machine, "measurements", trees());
  }

  /** All measurements as trees for JSON. */
  public List<?> trees() {
    return measurements.stream().map(Measurement::tree).toList();
  }
}
