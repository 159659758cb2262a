package graft.comparison.report;

import graft.comparison.run.Entry;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The amounts and sizes of programs' transfers, as in the Xen paper's table 1 and figure 11. */
final class TransferTable {
  /** The upper bounds of the size classes. */
  private static final List<Long> CLASSES =
      List.of(4L << 10, 64L << 10, 1L << 20, 4L << 20, 16L << 20, 32L << 20, Long.MAX_VALUE);

  private TransferTable() {}

  /**
   * Writes the table from the first profile of each program, since a program's transfers are the
   * same in every setting.
   */
  static void write(Html html, List<Entry.Profile> profiles) {
    html.open("table").open("thead").open("tr");
    for (String column : List.of("program", "direction", "memory", "copies", "MB")) {
      html.element("th", column);
    }
    html.element("th", "share of the bytes in messages of at most " + Numbers.size(CLASSES.get(0)));
    for (int i = 1; i < CLASSES.size() - 1; i++) {
      html.element("th", Numbers.size(CLASSES.get(i)));
    }
    html.element("th", "more").close().close().open("tbody");
    Set<String> seen = new HashSet<>();
    for (Entry.Profile profile : profiles) {
      if (seen.add(profile.key()) && profile.profile().get("transfers") instanceof List<?> list) {
        for (Object item : list) {
          if (item instanceof Map<?, ?> transfer) {
            row(html, profile.key(), transfer);
          }
        }
      }
    }
    html.close().close();
  }

  private static void row(Html html, String program, Map<?, ?> transfer) {
    double bytes = number(transfer.get("bytes"));
    if (bytes == 0) {
      return;
    }
    double[] shares = new double[CLASSES.size()];
    if (transfer.get("sizes") instanceof List<?> sizes) {
      for (Object item : sizes) {
        if (item instanceof Map<?, ?> size) {
          shares[bin(number(size.get("at_most")))] += number(size.get("bytes")) / bytes;
        }
      }
    }
    html.open("tr").element("th", program);
    html.element("td", String.valueOf(transfer.get("direction")));
    html.element("td", String.valueOf(transfer.get("memory")));
    html.element("td", Numbers.plain(number(transfer.get("count"))));
    html.element("td", Numbers.plain(bytes / 1e6));
    for (double share : shares) {
      html.element("td", share == 0 ? "" : Math.round(share * 100) + "%");
    }
    html.close();
  }

  private static int bin(double size) {
    int bin = 0;
    while (size > CLASSES.get(bin)) {
      bin++;
    }
    return bin;
  }

  private static double number(Object value) {
    return value instanceof Number number ? number.doubleValue() : 0;
  }
}
