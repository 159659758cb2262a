package graft.comparison.suite;

import java.util.List;
import java.util.Optional;

/**
 * A comparison: workloads in combinations of scenario, hypervisor and middleware, repeated several
 * times.
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
 * @param compare the version of the file format: 1
 * @param name the name of the comparison
 * @param title a line for the report's head
 * @param device the device that Graft's own servers serve: {@code software}, {@code gpu} or {@code
 *     gpu:N}
 * @param seed the seed of the random order and of the statistics' resampling; chosen at random and
 *     recorded if absent
 * @param repetitions the number of runs of each case in each setting, which is the number of
 *     blocks; 5 if absent
 * @param warmUps the number of runs at the beginning of each visit that do not count; 1 if absent
 * @param emptyCaches whether each run of a case follows one with the caches of compiled kernels
 *     empty; if absent, unless the device is {@code software}, which compiles into no cache
 * @param baseline the scenario with which the others are compared
 * @param hypervisors the hypervisors for scenarios with guests; the descriptor's choice if none is
 *     named
 * @param middleware the middleware for scenarios that need one; {@code graft} if none is named
 * @param otherGuests how the host's other guests are treated; {@code note} if absent
 * @param published files with published figures, relative to the suite's folder
 */
public record Suite(
    Integer compare,
    String name,
    Optional<String> title,
    Optional<String> device,
    Optional<Integer> seed,
    Optional<Integer> repetitions,
    Optional<Integer> warmUps,
    Optional<Boolean> emptyCaches,
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

  /** Whether each case also runs with empty caches. */
  public boolean startsEmpty() {
    return emptyCaches.orElse(!servedDevice().equals("software"));
  }

  /** The number of blocks. */
  public int blocks() {
    return repetitions.orElse(5);
  }
}
