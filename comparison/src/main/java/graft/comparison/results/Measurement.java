package graft.comparison.results;

import com.fasterxml.jackson.annotation.JsonAlias;
import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import graft.comparison.statistics.Summary;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
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
@JsonIgnoreProperties(ignoreUnknown = true)
public record Measurement(
    @JsonInclude(JsonInclude.Include.NON_EMPTY) String setting,
    String name,
    long size,
    String unit,
    State state,
    // The log of a comparison had one value before it had samples.
    @JsonAlias("value") @JsonFormat(with = JsonFormat.Feature.ACCEPT_SINGLE_VALUE_AS_ARRAY)
        List<Double> samples) {

  /** Also a line's: what it lacks has its default. */
  public Measurement {
    if (name == null || samples == null) {
      throw new IllegalArgumentException("a measurement has a name and samples");
    }
    setting = Objects.requireNonNullElse(setting, "");
    unit = Objects.requireNonNullElse(unit, "");
    state = Objects.requireNonNullElse(state, State.WARM);
    samples = Collections.unmodifiableList(new ArrayList<>(samples));
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
  @JsonIgnore
  public List<Double> measured() {
    return samples.stream().filter(Objects::nonNull).toList();
  }

  /**
   * The median.
   *
   * @throws IllegalArgumentException if every sample failed
   */
  @JsonIgnore
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
