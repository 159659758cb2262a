package graft.comparison.run;

import graft.comparison.local.OwnProgram;
import graft.comparison.suite.Direction;
import graft.comparison.suite.SizeClass;
import graft.comparison.suite.Suite;
import graft.comparison.suite.Words;
import graft.comparison.suite.Workload;
import graft.comparison.suite.WorkloadKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One program with its arguments: a workload, or one point of a workload.
 *
 * @param key the name of the case in the log and in reports: {@code synthetic/35%/h2d/64K-256K}
 * @param words the program and its arguments; {@code graft-workload} as the first word stands for
 *     the path of Graft's own program in the place
 * @param copies the number of copies that run at once
 */
public record Case(String key, Workload workload, List<String> words, int copies) {
  /** The word that stands for Graft's own program of workloads. */
  public static final String OWN_PROGRAM = OwnProgram.NAME;

  private static final List<Integer> SHARES = List.of(10, 35, 65, 90);
  private static final List<Integer> COPIES = List.of(1, 2, 4);

  public WorkloadKind kind() {
    return workload.knownKind().orElseThrow();
  }

  /** Whether the program gets the amount of work that calibration in the baseline determined. */
  public boolean isCalibrated() {
    return kind() == WorkloadKind.SYNTHETIC;
  }

  /** The program with its arguments, including the amount of work unless that is empty. */
  public Program program(String amount) {
    List<String> all = new ArrayList<>(words);
    if (!amount.isEmpty()) {
      all.add("amount=" + amount);
    }
    Duration limit = Duration.ofSeconds(workload.timeoutSeconds().orElse(300));
    return new Program(List.copyOf(all), Map.of(), limit, false);
  }

  /** All cases of a suite, in its order. */
  public static List<Case> of(Suite suite) {
    List<Case> cases = new ArrayList<>();
    for (Workload workload : suite.workloads()) {
      switch (workload.knownKind().orElseThrow()) {
        case SYNTHETIC -> synthetic(workload, cases);
        case MULTIPLEX -> multiplex(workload, cases);
        case EXEC -> cases.add(own(workload, workload.name(), workload.program(), 1));
        default -> cases.add(own(workload, workload.name(), List.of(), 1));
      }
    }
    return List.copyOf(cases);
  }

  private static void synthetic(Workload workload, List<Case> cases) {
    for (int share : orElse(workload.shares(), SHARES)) {
      for (Direction direction : orElse(workload.directions(), List.of(Direction.BOTH))) {
        for (SizeClass size : orElse(workload.sizes(), List.of(SizeClass.parse("256K-1M")))) {
          String key =
              workload.name() + "/" + share + "%/" + Words.of(direction) + "/" + size.toString();
          List<String> words =
              List.of(
                  "share=" + share,
                  "direction=" + Words.of(direction),
                  "low=" + size.low(),
                  "high=" + size.high());
          cases.add(own(workload, key, words, 1));
        }
      }
    }
  }

  private static void multiplex(Workload workload, List<Case> cases) {
    for (int copies : orElse(workload.copies(), COPIES)) {
      cases.add(own(workload, workload.name() + "/x" + copies, List.of(), copies));
    }
  }

  private static Case own(Workload workload, String key, List<String> more, int copies) {
    List<String> words = new ArrayList<>();
    words.add(OWN_PROGRAM);
    words.add(workload.knownKind().orElseThrow().program());
    words.addAll(more);
    words.addAll(workload.arguments());
    return new Case(key, workload, List.copyOf(words), copies);
  }

  private static <T> List<T> orElse(List<T> given, List<T> usual) {
    return given.isEmpty() ? usual : given;
  }
}
