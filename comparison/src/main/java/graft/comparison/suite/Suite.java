package graft.comparison.suite;

import java.util.List;
import java.util.Optional;

/**
 * A comparison: workloads by scenarios, hypervisors and middleware, so many times.
 *
 * <pre>{@code
 * compare: 1
 * name: channels
 * device: gpu
 * baseline: native
 * repetitions: 10
 * scenarios: [{name: native}, {name: shm}, {name: tcp}]
 * workloads: [{name: bandwidth}, {name: kernels}]
 * }</pre>
 *
 * @param compare the version of the file's form: 1
 * @param name what the comparison is called
 * @param title a line for the report's head
 * @param device which device Graft's own servers serve: {@code software}, {@code gpu} or {@code
 *     gpu:N}
 * @param seed of the order and of the statistics' resampling; by chance if absent, and kept
 * @param repetitions how often each case is run in each setting: as many blocks; 5 if absent
 * @param warmUps runs before each visit of a setting that do not count; 1 if absent
 * @param baseline the scenario that others are compared with
 * @param hypervisors for scenarios with guests; the descriptor's own choice if none is named
 * @param middleware for scenarios that need some; {@code graft} if none is named
 * @param otherGuests what becomes of the host's other guests; {@code note} if absent
 * @param published files with published figures, counted from the suite's folder
 */
public record Suite(
    Integer compare,
    String name,
    Optional<String> title,
    Optional<String> device,
    Optional<Integer> seed,
    Optional<Integer> repetitions,
    Optional<Integer> warmUps,
    String baseline,
    List<Scenario> scenarios,
    List<String> hypervisors,
    List<Middleware> middleware,
    List<Workload> workloads,
    Optional<OtherGuests> otherGuests,
    List<String> published) {

  /** The device of Graft's own servers. */
  public String servedDevice() {
    return device.orElse("gpu");
  }

  /** How many blocks there are. */
  public int blocks() {
    return repetitions.orElse(5);
  }
}
