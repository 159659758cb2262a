package graft.comparison.results;

import graft.common.bind.Default;
import graft.common.json.RecordTrees;
import graft.comparison.statistics.Summary;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * One figure of one setting, with every sample. It is a line of a results file, and the form in
 * which Graft's measuring programs print their figures:
 *
 * <pre>{@code
 * {"setting":"tcp","name":"pinned-host-to-device","size":65536,"unit":"us","state":"warm","samples":[41.2,40.9]}
 * }</pre>
 *
 * @param setting how the program reached the GPU, or the name of the tool that was measured; empty
 *     in a program's output, since programs do not know their setting
 * @param size the size of the figure, in bytes or as a count; 0 if it has none
 * @param unit for example {@code us} or {@code MB/s}; empty for a count
 * @param state the state; warm if the line has none
 * @param samples the samples in the order of their measurement; null stands for one that failed
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
   * @throws IllegalArgumentException if the tree is not a measurement
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

  /** A measurement in the warm state, without a setting; a sample that is null failed. */
  public static Measurement of(String name, long size, String unit, Double... samples) {
    return new Measurement("", name, size, unit, State.WARM, Arrays.asList(samples));
  }

  /** This measurement in that setting. */
  public Measurement in(String place) {
    return new Measurement(place, name, size, unit, state, samples);
  }

  /** This measurement in that state. */
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

  /** Whether the unit is a rate, of which higher values are better. */
  public static boolean isRate(String unit) {
    return unit.endsWith("/s") || unit.equals("x");
  }

  /** Whether values of this unit are compared: amounts, shares and plain numbers are not. */
  public static boolean isCompared(String unit) {
    return !unit.isEmpty() && !unit.equals("B") && !unit.equals("%");
  }
}
