package graft.comparison.report;

import graft.comparison.run.Entry;
import graft.comparison.run.Noise;
import graft.comparison.run.Result;
import java.util.DoubleSummaryStatistics;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** The report's section about the machine, its load during the run, and how to repeat the run. */
final class MachineSection {
  private MachineSection() {}

  static void write(Html html, Html appendix, Findings findings, String suiteText) {
    html.element("h2", "The machine, and how to repeat this");
    html.open("table", "class", "words").open("tbody");
    findings
        .begin()
        .machine()
        .forEach((name, value) -> html.open("tr").element("th", name).element("td", value).close());
    noise(html, findings);
    readiness(html, findings);
    html.close().close();
    html.element(
        "p", "Repeat it with graft compare SUITE --output-dir DIR; the suite is in the appendix.");
    appendix.element("h2", "The suite");
    appendix.element("pre", suiteText.strip());
  }

  private static void noise(Html html, Findings findings) {
    List<Entry.Run> runs = findings.runs().stream().filter(r -> r.result() == Result.OK).toList();
    if (runs.isEmpty()) {
      return;
    }
    DoubleSummaryStatistics clock = over(runs, Noise::megahertz);
    DoubleSummaryStatistics gpuClock = over(runs, Noise::gpuMegahertz);
    double warm = over(runs, Noise::celsius).getMax();
    String text =
        "processor time stolen by the hypervisor below: at most "
            + Numbers.plain(over(runs, Noise::stealPercent).getMax())
            + "%; load at most "
            + Numbers.plain(over(runs, Noise::load).getMax())
            + (clock.getMax() > 0 ? "; clock " + range(clock) + " MHz" : "")
            + (warm > 0 ? "; warmest sensor " + Numbers.plain(warm) + " °C" : "; no sensor of heat")
            + (gpuClock.getMax() > 0
                ? "; after the runs the GPU's clock was "
                    + range(gpuClock)
                    + " MHz, its temperature at most "
                    + Numbers.plain(over(runs, Noise::gpuCelsius).getMax())
                    + " °C"
                : "");
    html.open("tr").element("th", "noise").element("td", text).close();
  }

  private static DoubleSummaryStatistics over(
      List<Entry.Run> runs, ToDoubleFunction<Noise> figure) {
    return runs.stream().map(Entry.Run::noise).mapToDouble(figure).summaryStatistics();
  }

  private static String range(DoubleSummaryStatistics figure) {
    return Numbers.plain(figure.getMin()) + " to " + Numbers.plain(figure.getMax());
  }

  private static void readiness(Html html, Findings findings) {
    Map<String, Double> longest = new LinkedHashMap<>();
    int guests = 0;
    for (Entry.Ready ready : findings.of(Entry.Ready.class)) {
      longest.merge(ready.setting(), ready.seconds(), Math::max);
      guests = Math.max(guests, ready.guestsRunning());
    }
    StringBuilder text = new StringBuilder();
    for (Iterator<Map.Entry<String, Double>> i = longest.entrySet().iterator(); i.hasNext(); ) {
      Map.Entry<String, Double> entry = i.next();
      text.append(entry.getKey()).append(' ').append(Numbers.plain(entry.getValue())).append(" s");
      text.append(i.hasNext() ? ", " : "");
    }
    html.open("tr").element("th", "time to make ready, at most").element("td", text.toString());
    html.close();
    html.open("tr").element("th", "guests on this host");
    String off =
        findings.of(Entry.ShutOff.class).stream()
            .map(Entry.ShutOff::guest)
            .distinct()
            .collect(Collectors.joining(", "));
    html.element(
            "td",
            "at most "
                + guests
                + " at one time, the comparison's own among them"
                + (off.isEmpty() ? "" : "; shut off for it: " + off))
        .close();
  }
}
