package graft.comparison.run;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * One visit of a setting: the setting is made ready, cases run in it, and it is taken down.
 *
 * @param block the block of the visit, from 1
 */
public record Visit(int block, Setting setting, List<Case> cases) {
  /**
   * The plan of a comparison. Each block visits every setting once, and each visit runs every case
   * once, both in random order. Effects that drift with time (clocks, temperature, other load) then
   * affect all settings alike, and measurements within a block are comparable.
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
