package graft.comparison.suite;

import java.util.List;
import java.util.Optional;

/**
 * A figure that others published, shown beside the measurements of this run.
 *
 * @param source the publication, and the table or figure in it
 * @param what the quantity that the publication measured
 * @param unit the unit of the quantity
 * @param baseline the label of the value with which the others are compared, if it was published
 * @param values the values, by the publication's own labels
 * @param workload the corresponding workload of this suite
 * @param figure the corresponding figure of that workload
 */
public record Published(
    String source,
    String what,
    String unit,
    Optional<String> baseline,
    List<PublishedValue> values,
    Optional<String> workload,
    Optional<String> figure) {

  /** One published value. */
  public record PublishedValue(String label, Quantity value) {}
}
