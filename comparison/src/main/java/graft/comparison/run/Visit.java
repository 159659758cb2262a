package graft.comparison.run;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * One stay in a setting: it is made ready, runs cases, and is taken down.
 *
 * @param block the block that it belongs to, from 1
 */
public record Visit(int block, Setting setting, List<Case> cases) {
  /**
   * The plan of a comparison: in each block every setting once and in it every case once, both in
   * an order by chance, so that what drifts with time (clocks, temperature, other people's work)
   * falls on all alike and a block can be compared within itself.
   *
   * @param seed the same seed gives the same order
   */
  public static List<Visit> plan(List<Setting> settings, List<Case> cases, int blocks, long seed) {
    Random random = new Random(seed);
    List<Visit> visits = new ArrayList<>();
    for (int block = 1; block <= blocks; block++) {
      for (Setting setting : shuffled(settings, random)) {
        visits.add(new Visit(block, setting, shuffled(cases, random)));
      }
    }
    return List.copyOf(visits);
  }

  private static <T> List<T> shuffled(List<T> list, Random random) {
    List<T> copy = new ArrayList<>(list);
    Collections.shuffle(copy, random);
    return List.copyOf(copy);
  }
}
