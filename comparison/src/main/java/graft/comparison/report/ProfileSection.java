package graft.comparison.report;

import graft.comparison.run.Case;
import graft.comparison.run.Entry;
import graft.comparison.statistics.Interval;
import graft.comparison.statistics.Summary;
import graft.comparison.suite.WorkloadKind;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How the time of programs divides into parts, as the client measured it in separate runs, one in
 * each block. The synthetic program measures its own times as well, in the runs that count: where
 * the two do not agree, the section says so.
 */
final class ProfileSection {
  /** Shares that differ by fewer percentage points are taken to agree. */
  private static final double TOLERANCE = 5;

  private static final String FLAG = "disagrees";

  /** The profiles of a case in a setting. */
  private record Place(String key, String setting) {}

  /** The share of transfers in a profile's and the program's own sum of transfers and kernels. */
  private record Comparison(Place place, Summary profiled, Summary own) {
    boolean isAgreed() {
      return Math.abs(profiled.mean() - own.mean()) <= TOLERANCE || overlap();
    }

    private boolean overlap() {
      Optional<Interval> a = profiled.interval();
      Optional<Interval> b = own.interval();
      return a.isPresent()
          && b.isPresent()
          && a.get().low() <= b.get().high()
          && b.get().low() <= a.get().high();
    }
  }

  private final Findings findings;
  private final Map<Place, List<Entry.Profile>> profiles = new LinkedHashMap<>();
  private final Map<Place, Comparison> comparisons = new LinkedHashMap<>();

  ProfileSection(Findings findings) {
    this.findings = findings;
    List<String> settings = findings.settings();
    List<String> cases = Case.of(findings.suite()).stream().map(Case::key).toList();
    List<Entry.Profile> sorted = new ArrayList<>(findings.of(Entry.Profile.class));
    sorted.sort(
        Comparator.<Entry.Profile>comparingInt(profile -> cases.indexOf(profile.key()))
            .thenComparingInt(profile -> settings.indexOf(profile.setting())));
    for (Entry.Profile profile : sorted) {
      profiles
          .computeIfAbsent(new Place(profile.key(), profile.setting()), p -> new ArrayList<>())
          .add(profile);
    }
    profiles.keySet().forEach(place -> compare(place).ifPresent(c -> comparisons.put(place, c)));
  }

  private Optional<Comparison> compare(Place place) {
    List<Double> profiled = new ArrayList<>();
    for (Entry.Profile profile : profiles.get(place)) {
      double transfer = milliseconds(profile, "transfer").orElse(0.0);
      double both = transfer + milliseconds(profile, "compute").orElse(0.0);
      if (both > 0) {
        profiled.add(100 * transfer / both);
      }
    }
    List<Double> own = new ArrayList<>();
    for (FigureKey key : findings.figures(WorkloadKind.SYNTHETIC)) {
      if (key.run().equals(place.key()) && key.figure().equals("time")) {
        Map<Integer, Double> compute = findings.values(key.named("compute"), place.setting());
        findings
            .values(key.named("transfer"), place.setting())
            .forEach(
                (block, ms) -> {
                  double both = ms + compute.getOrDefault(block, 0.0);
                  if (both > 0) {
                    own.add(100 * ms / both);
                  }
                });
      }
    }
    return profiled.isEmpty() || own.isEmpty()
        ? Optional.empty()
        : Optional.of(new Comparison(place, findings.summary(profiled), findings.summary(own)));
  }

  private static Optional<Double> milliseconds(Entry.Profile profile, String part) {
    return profile.profile().get(part + "_ms") instanceof Number number
        ? Optional.of(number.doubleValue())
        : Optional.empty();
  }

  /** Writes the section, and the amounts of the transfers into the appendix. */
  void write(Html html, Figures figures, Html appendix) {
    if (profiles.isEmpty()) {
      return;
    }
    html.element("h2", "Where the time goes");
    html.element(
        "p",
        "From runs of their own with GRAFT_PROFILE, in which the client waits between transfers and"
            + " kernels to tell them apart; these runs count nowhere else.");
    Map<String, List<StackPlot.Bar>> groups = new LinkedHashMap<>();
    profiles.forEach(
        (place, list) ->
            groups.computeIfAbsent(place.key(), k -> new ArrayList<>()).add(bar(place, list)));
    List<StackPlot.Group> list = new ArrayList<>();
    groups.forEach((label, bars) -> list.add(new StackPlot.Group(label, bars)));
    figures.add(
        "profiles",
        "Where the time of programs goes",
        "Means of "
            + runs()
            + ", measured by the client"
            + (hasIntervals(list) ? "; whiskers are 95% intervals of each part." : "."),
        new StackPlot(list));
    agreement(html, appendix);
    appendix.element("h2", "Transfers of the profiled programs");
    TransferTable.write(appendix, findings.of(Entry.Profile.class));
  }

  private static boolean hasIntervals(List<StackPlot.Group> groups) {
    return groups.stream()
        .flatMap(group -> group.bars().stream())
        .flatMap(bar -> bar.parts().values().stream())
        .anyMatch(part -> part.interval().isPresent());
  }

  private String runs() {
    int fewest = profiles.values().stream().mapToInt(List::size).min().orElse(0);
    int most = profiles.values().stream().mapToInt(List::size).max().orElse(0);
    String range = fewest == most ? Integer.toString(most) : fewest + " to " + most;
    return range + (most == 1 ? " run" : " runs");
  }

  private StackPlot.Bar bar(Place place, List<Entry.Profile> list) {
    Map<String, Summary> parts = new LinkedHashMap<>();
    for (String part : StackPlot.ORDER) {
      List<Double> observed =
          list.stream().flatMap(profile -> milliseconds(profile, part).stream()).toList();
      if (!observed.isEmpty()) {
        parts.put(part, findings.summary(observed));
      }
    }
    Comparison comparison = comparisons.get(place);
    boolean agreed = comparison == null || comparison.isAgreed();
    return new StackPlot.Bar(place.setting(), parts, agreed ? "" : FLAG);
  }

  /**
   * Writes the comparison with the times that the synthetic program measured itself: where the two
   * disagree into the report, and all of it into the appendix.
   */
  private void agreement(Html html, Html appendix) {
    if (comparisons.isEmpty()) {
      return;
    }
    List<Comparison> disagree = comparisons.values().stream().filter(c -> !c.isAgreed()).toList();
    html.element(
        "p",
        "The share of transfers in the time of transfers and kernels, by these profiles and by the"
            + " program's own clock in the runs that count, agrees in "
            + (comparisons.size() - disagree.size())
            + " of "
            + comparisons.size()
            + " cases. The two disagree if they differ by more than "
            + (int) TOLERANCE
            + " percentage points and their intervals do not overlap. A profile includes the"
            + " program's preparation, and its waits change what the program does: where the two"
            + " disagree, trust the plot of the set shares.");
    if (!disagree.isEmpty()) {
      table(html, disagree.subList(0, Math.min(disagree.size(), HtmlReport.MOST_ROWS)));
      HtmlReport.more(html, disagree.size());
    }
    appendix.element("h2", "Shares of transfers, by profiles and by the program's own clock");
    table(appendix, comparisons.values());
  }

  private static void table(Html html, Collection<Comparison> comparisons) {
    html.open("table", "class", "figures").open("thead").open("tr");
    for (String column : List.of("case", "setting", "profiles", "program's own clock", "")) {
      html.element("th", column);
    }
    html.close().close().open("tbody");
    for (Comparison comparison : comparisons) {
      html.open("tr").element("th", comparison.place().key());
      html.element("td", comparison.place().setting());
      html.element("td", share(comparison.profiled())).element("td", share(comparison.own()));
      html.open("td");
      if (comparison.isAgreed()) {
        html.text("agrees");
      } else {
        html.element("strong", FLAG, "class", "flag");
      }
      html.close().close();
    }
    html.close().close();
  }

  private static String share(Summary share) {
    return Numbers.plain(share.mean())
        + "%"
        + share
            .interval()
            .map(i -> " (" + Numbers.plain(i.low()) + " to " + Numbers.plain(i.high()) + ")")
            .orElse("");
  }
}
