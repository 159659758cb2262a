package graft.comparison.suite;

import java.util.List;
import java.util.Optional;

/**
 * A program to run in each scenario.
 *
 * <pre>{@code
 * - {name: bandwidth, arguments: [most=64M]}
 * - {name: synthetic, shares: [10, 90], directions: [h2d], sizes: [64K-256K], arguments: [seconds=1]}
 * - {name: multiplex, copies: [1, 2, 4]}
 * - name: lammps
 *   kind: exec
 *   program: [lmp, -in, in.lj]
 *   host-path: lammps/bin
 *   figures: [{name: loop-time, pattern: 'Loop time of ([0-9.]+)', unit: s}]
 * }</pre>
 *
 * @param kind the kind, if the name is not that of a kind
 * @param arguments for Graft's own programs, each {@code OPTION=VALUE}: graft-workload --help
 * @param shares synthetic: per cent of the time in transfers; 10, 35, 65 and 90 if absent
 * @param directions synthetic: both if absent
 * @param sizes synthetic: classes of transfer sizes; 256K-1M if absent
 * @param copies multiplex: the numbers of copies that run at once; 1, 2 and 4 if absent
 * @param program exec: the program and its arguments
 * @param hostPath exec: the folder of the program on this host, relative to the suite's folder, for
 *     programs outside the PATH. Guests get the program from the set-up in their descriptor
 * @param figures exec: the figures that the program prints; the run time is always a figure
 * @param check exec: a regular expression that the program's output must match, as a right result
 *     does; without it the exit code alone counts
 * @param timeoutSeconds the time limit of one run; 300 if absent
 * @param profile whether an additional run in each block, which does not count, breaks down the
 *     program's time
 */
public record Workload(
    String name,
    Optional<WorkloadKind> kind,
    List<String> arguments,
    List<Integer> shares,
    List<Direction> directions,
    List<SizeClass> sizes,
    List<Integer> copies,
    List<String> program,
    Optional<String> hostPath,
    List<OwnFigure> figures,
    Optional<String> check,
    Optional<Integer> timeoutSeconds,
    Optional<Boolean> profile) {

  /** The kind, explicit or derived from the name; empty if the name is not that of a kind. */
  public Optional<WorkloadKind> knownKind() {
    return kind.or(() -> Words.find(WorkloadKind.class, name));
  }
}
