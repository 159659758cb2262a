package graft.comparison.suite;

import java.util.List;
import java.util.Optional;

/**
 * A figure that somebody published, to stand beside what is measured here.
 *
 * @param source the publication, and the table or figure in it
 * @param what what was measured there
 * @param unit its unit
 * @param baseline the label of the value that others are compared with, if it was published
 * @param values the values, by the publication's own labels
 * @param workload the workload of this suite that is of the same kind
 * @param figure its figure
 */
public record Published(
    String source,
    String what,
    String unit,
    Optional<String> baseline,
    List<PublishedValue> values,
    Optional<String> workload,
    Optional<String> figure) {

  /** One value. */
  public record PublishedValue(String label, Quantity value) {}
}
