package graft.comparison.bench;

import graft.comparison.results.Measurement;
import graft.comparison.results.Results;
import graft.comparison.results.ResultsTable;
import java.util.Optional;

/** The measurements of each channel, beside the best values that plain TCP allows. */
public final class RemotingResults {
  public static final String NATIVE = "native";
  private static final String TCP = "tcp";

  /** The name of the setting that holds the best possible figures over plain TCP. */
  static final String BEST = "best over tcp";

  private static final String COPY = "plain-copy";
  private static final String ROUND_TRIP = "plain-round-trip";

  /**
   * The allowance for a launch and a wait over TCP, beyond the round trip and the native launch.
   */
  private static final double ALLOWED_MICROSECONDS = 5;

  private RemotingResults() {}

  /** Adds the best possible figures over plain TCP, where plain TCP was measured. */
  public static Results withBest(Results measured) {
    for (Measurement figure : measured.figures()) {
      best(measured, figure)
          .ifPresent(
              best ->
                  measured.add(
                      Measurement.of(figure.name(), figure.size(), figure.unit(), best).in(BEST)));
    }
    return measured;
  }

  /** For a copy, the rate of plain TCP; for a launch with its wait, round trip + native + 5 us. */
  private static Optional<Double> best(Results measured, Measurement figure) {
    if (figure.name().startsWith("pinned-") || figure.name().startsWith("pageable-")) {
      return measured
          .at(TCP, Measurement.of(COPY, figure.size(), figure.unit()))
          .map(Measurement::value);
    }
    return figure.name().equals("launch-synchronize")
        ? measured
            .at(TCP, Measurement.of(ROUND_TRIP, 0, figure.unit()))
            .flatMap(
                trip ->
                    measured
                        .at(NATIVE, figure)
                        .map(launch -> trip.value() + launch.value() + ALLOWED_MICROSECONDS))
        : Optional.empty();
  }

  /** A table in Markdown, with ratios to native in the same run. */
  public static String table(Results results) {
    ResultsTable table = new ResultsTable(results);
    for (String setting : results.settings()) {
      if (!setting.equals(BEST)) {
        table.median(setting);
        if (!setting.equals(NATIVE) && results.settings().contains(NATIVE)) {
          table.ratio("ratio", setting, NATIVE);
        }
      }
    }
    if (results.settings().contains(BEST)) {
      table.ratio("tcp / best", TCP, BEST);
    }
    return table.toString();
  }
}
