package graft.comparison.report;

import graft.comparison.results.Measurement;
import graft.comparison.statistics.Overhead;
import graft.comparison.statistics.Summary;
import graft.comparison.suite.Published;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The report's section that shows figures published by others beside those of this run. */
final class PublishedSection {
  /** The published figures in the report, each with a line of what was measured here. */
  private static final int MOST = 6;

  private PublishedSection() {}

  /**
   * Writes the first figures that have one of this comparison beside them into the report, and all
   * into its appendix, if there are others.
   */
  static void write(Html html, Html appendix, Findings findings, List<Published> published) {
    List<Published> beside = new ArrayList<>();
    List<Published> alone = new ArrayList<>();
    published.forEach(f -> (ownValues(findings, f).isEmpty() ? alone : beside).add(f));
    if (!beside.isEmpty()) {
      html.element("h2", "Published figures beside these");
      html.element(
          "p",
          "Others' figures, as published, on their hardware and software. In brackets: time"
              + " relative to the publication's own baseline. The line below each is what was"
              + " measured here."
              + (published.size() > Math.min(beside.size(), MOST)
                  ? " The appendix has more."
                  : ""));
      table(html, findings, beside.subList(0, Math.min(beside.size(), MOST)));
    }
    if (!alone.isEmpty() || beside.size() > MOST) {
      appendix.element("h2", "Published figures");
      table(appendix, findings, published);
    }
  }

  private static void table(Html html, Findings findings, List<Published> published) {
    html.open("table", "class", "words").open("thead").open("tr");
    html.element("th", "what").element("th", "values").element("th", "source").close().close();
    html.open("tbody");
    for (Published figure : published) {
      html.open("tr").element("th", figure.what() + " (" + figure.unit() + ")");
      html.element("td", publishedValues(figure))
          .open("td")
          .element("span", "published", "class", "tag");
      html.text(" " + figure.source()).close().close();
      String own = ownValues(findings, figure);
      if (!own.isEmpty()) {
        html.open("tr", "class", "own").element("td", "").element("td", own);
        html.element("td", "measured here: " + figure.workload().orElse("")).close();
      }
    }
    html.close().close();
  }

  private static String publishedValues(Published figure) {
    Optional<Double> base =
        figure.values().stream()
            .filter(v -> figure.baseline().filter(v.label()::equals).isPresent())
            .map(v -> v.value().value())
            .findFirst();
    List<String> texts = new ArrayList<>();
    for (Published.PublishedValue value : figure.values()) {
      String text = value.label() + " " + Numbers.plain(value.value().value());
      if (base.isPresent() && !figure.baseline().get().equals(value.label())) {
        double ratio = value.value().value() / base.get();
        boolean rate = Measurement.isRate(figure.unit());
        text += " (" + Numbers.overhead(rate ? 1 / ratio : ratio) + ")";
      }
      texts.add(text);
    }
    return String.join(" · ", texts);
  }

  private static String ownValues(Findings findings, Published figure) {
    List<FigureKey> keys =
        findings.figures().stream()
            .filter(k -> figure.workload().filter(k.workload()::equals).isPresent())
            .filter(k -> figure.figure().isEmpty() || figure.figure().get().equals(k.figure()))
            .filter(key -> key.isCompared() && !key.isOfEmptyCaches())
            .toList();
    if (keys.isEmpty()) {
      return "";
    }
    FigureKey largest = keys.get(keys.size() - 1);
    List<String> texts = new ArrayList<>();
    for (String setting : findings.settings()) {
      Optional<Summary> summary = findings.summary(largest, setting);
      Optional<Overhead> overhead = findings.overhead(largest, setting);
      summary.ifPresent(
          s ->
              texts.add(
                  setting
                      + " "
                      + Numbers.plain(s.mean())
                      + " "
                      + largest.unit()
                      + overhead.map(o -> " (" + Numbers.overhead(o.ratio()) + ")").orElse("")));
    }
    String size = largest.size() > 0 ? "at " + Numbers.size(largest.size()) + ": " : "";
    return size + String.join(" · ", texts);
  }
}
