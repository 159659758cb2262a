package graft.comparison.results;

import graft.common.bind.Default;
import graft.common.json.RecordTrees;
import graft.comparison.statistics.Summary;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * One figure of one setting, with every sample. A line of a results file, and what Graft's
 * measuring programs print:
 *
 * <pre>{@code
 * {"setting":"tcp","name":"pinned-host-to-device","size":65536,"unit":"us","state":"warm","samples":[41.2,40.9]}
 * }</pre>
 *
 * @param setting how the program reached the GPU, or whose tool was measured; empty as a program
 *     prints it, which does not know
 * @param size the size that belongs to it, in bytes or as a count; 0 if none does
 * @param unit for example {@code us} or {@code MB/s}; empty for a count
 * @param state warm if the line has none
 * @param samples in the order in which they were measured; null in the place of one that failed
 */
public record Measurement(
    @Default("") String setting,
    String name,
    @Default("0") long size,
    @Default("") String unit,
    @Default("warm") State state,
    List<Double> samples) {
  private static final RecordTrees TREES = new RecordTrees(Map.of(State.class, State::of));

  /** Keeps a copy of the samples. */
  public Measurement {
    samples = Collections.unmodifiableList(new ArrayList<>(samples));
  }

  /**
   * Reads a measurement from a tree of JSON.
   *
   * @throws IllegalArgumentException if the tree is none
   */
  static Measurement read(Map<?, ?> tree) {
    Measurement measurement = TREES.read(Measurement.class, tree);
    if (measurement.samples.isEmpty()) {
      throw new IllegalArgumentException("lacks 'samples'");
    }
    return measurement;
  }

  /** The measurement as a tree for JSON. */
  Map<String, Object> tree() {
    Map<String, Object> tree = TREES.write(this);
    tree.remove("setting", "");
    return tree;
  }

  /** A warm one, of no setting yet. */
  public static Measurement of(String name, long size, String unit, Double... samples) {
    return new Measurement("", name, size, unit, State.WARM, List.of(samples));
  }

  /** The same, measured in that setting. */
  public Measurement in(String place) {
    return new Measurement(place, name, size, unit, state, samples);
  }

  /** The same, measured in that state. */
  public Measurement in(State measured) {
    return new Measurement(setting, name, size, unit, measured, samples);
  }

  /** The samples that did not fail. */
  public List<Double> measured() {
    return samples.stream().filter(Objects::nonNull).toList();
  }

  /**
   * The median.
   *
   * @throws IllegalArgumentException if every sample failed
   */
  public double value() {
    return Summary.median(measured());
  }

  /** Whether both are samples of one figure; their settings may differ. */
  boolean isSameFigure(Measurement other) {
    return name.equals(other.name)
        && size == other.size
        && unit.equals(other.unit)
        && state == other.state;
  }

  /** Whether a higher value is a better one. */
  public static boolean isRate(String unit) {
    return unit.endsWith("/s") || unit.equals("x");
  }

  /** Whether values are compared at all: amounts and shares are not. */
  public static boolean isCompared(String unit) {
    return !unit.equals("B") && !unit.equals("%");
  }
}
