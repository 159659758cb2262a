package graft.common.bind;

import java.util.Collection;
import java.util.Optional;

/** Finds the word that the user probably meant. */
public final class Spelling {
  private Spelling() {}

  /** The known word nearest to the given one; empty if no word is near enough to be meant. */
  public static Optional<String> nearest(String written, Collection<String> known) {
    String best = null;
    int bestDistance = Math.max(1, written.length() / 3) + 1;
    for (String word : known) {
      int distance = distance(written, word);
      if (distance < bestDistance) {
        best = word;
        bestDistance = distance;
      }
    }
    return Optional.ofNullable(best);
  }

  /** A hint for the user: the nearest known word, or all known words if none is near. */
  public static String hint(String written, Collection<String> known) {
    return nearest(written, known)
        .map(word -> "did you mean '" + word + "'?")
        .orElseGet(() -> known.isEmpty() ? "there is none" : "known: " + String.join(", ", known));
  }

  /** Edit distance with swapped neighbours as one edit (optimal string alignment). */
  static int distance(String a, String b) {
    int[][] d = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      d[i][0] = i;
    }
    for (int j = 0; j <= b.length(); j++) {
      d[0][j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      for (int j = 1; j <= b.length(); j++) {
        int cost = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
        d[i][j] = Math.min(Math.min(d[i - 1][j] + 1, d[i][j - 1] + 1), d[i - 1][j - 1] + cost);
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
        }
      }
    }
    return d[a.length()][b.length()];
  }
}
