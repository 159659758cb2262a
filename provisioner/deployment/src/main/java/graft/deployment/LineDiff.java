package graft.deployment;

import java.util.ArrayList;
import java.util.List;

/** The lines that differ between two texts, by their longest common subsequence. */
final class LineDiff {
  /** Beyond this number of lines the table of the subsequence would be too large. */
  private static final int MOST_LINES = 2000;

  private LineDiff() {}

  /** The removed lines with {@code - } and the added ones with {@code + }, in order. */
  static List<String> of(List<String> before, List<String> after) {
    if (before.size() > MOST_LINES || after.size() > MOST_LINES) {
      return List.of("(" + before.size() + " lines → " + after.size() + " lines)");
    }
    int[][] common = new int[before.size() + 1][after.size() + 1];
    for (int i = before.size() - 1; i >= 0; i--) {
      for (int k = after.size() - 1; k >= 0; k--) {
        common[i][k] =
            before.get(i).equals(after.get(k))
                ? common[i + 1][k + 1] + 1
                : Math.max(common[i + 1][k], common[i][k + 1]);
      }
    }
    List<String> lines = new ArrayList<>();
    int i = 0;
    int k = 0;
    while (i < before.size() || k < after.size()) {
      if (i < before.size() && k < after.size() && before.get(i).equals(after.get(k))) {
        i++;
        k++;
      } else if (k == after.size() || (i < before.size() && common[i + 1][k] >= common[i][k + 1])) {
        lines.add("- " + before.get(i++).strip());
      } else {
        lines.add("+ " + after.get(k++).strip());
      }
    }
    return lines;
  }
}
