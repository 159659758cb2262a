package graft.comparison.report;

import graft.comparison.run.Setting;
import graft.comparison.statistics.Overhead;
import graft.comparison.suite.Workload;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What each workload costs on the machine itself and under each hypervisor, as in the passthrough
 * paper's table of KVM, Xen, VMware ESXi and LXC (Walters et al., CLOUD 2014): a row for each
 * workload and way to the GPU, a column for each hypervisor. A cell without a figure says why.
 * Empty for a suite without guests.
 */
public final class HypervisorTable {
  /** The columns that the table always has: a cell of a setting that the suite lacks says so. */
  private static final List<String> COLUMNS = List.of("bare", "kvm", "xen", "lxc");

  /** A way to the GPU, on the machine itself and in guests. */
  private enum Way {
    OWN("its own GPU"),
    LOCAL("vGPU of this host"),
    REMOTE("vGPU of another node");

    private final String label;

    Way(String label) {
      this.label = label;
    }

    static Way of(Setting setting) {
      return switch (setting.kind()) {
        case NATIVE, VM_PASSTHROUGH, LXC_PASSTHROUGH -> OWN;
        case UNIX, SHM, TCP, VM_LOCAL, LXC_LOCAL -> LOCAL;
        case PF_REMOTE, VF_REMOTE, VM_REMOTE -> REMOTE;
      };
    }
  }

  private final Findings findings;
  private final List<Setting> settings;
  private final List<String> columns;
  private final List<List<String>> rows = new ArrayList<>();
  private final Map<String, String> reasons = new LinkedHashMap<>();

  private HypervisorTable(Findings findings) {
    this.findings = findings;
    settings = Setting.of(findings.suite());
    Set<String> all = new LinkedHashSet<>(COLUMNS);
    settings.forEach(setting -> all.add(column(setting)));
    columns = List.copyOf(all);
    if (settings.stream().noneMatch(setting -> setting.kind().isGuest())) {
      return;
    }
    for (Way way : Way.values()) {
      if (settings.stream().anyMatch(setting -> Way.of(setting) == way)) {
        findings.suite().workloads().forEach(workload -> rows.add(row(way, workload)));
      }
    }
  }

  /** The table of a comparison. */
  public static HypervisorTable of(Findings findings) {
    return new HypervisorTable(findings);
  }

  private static String column(Setting setting) {
    if (setting.kind().isContainer()) {
      return "lxc";
    }
    return setting.kind().isGuest() ? setting.hypervisor().orElse("auto") : "bare";
  }

  private List<String> row(Way way, Workload workload) {
    List<String> row = new ArrayList<>(List.of(way.label, workload.name()));
    for (String column : columns) {
      List<Setting> here =
          settings.stream().filter(s -> Way.of(s) == way && column(s).equals(column)).toList();
      String cell =
          here.stream()
              .map(s -> (here.size() > 1 ? s.name() + " " : "") + cell(s.name(), workload))
              .collect(Collectors.joining("; "));
      row.add(cell.isEmpty() ? "not in the suite" : cell);
    }
    return row;
  }

  /** The overhead over the baseline, or why there is none. */
  private String cell(String setting, Workload workload) {
    String impossible = findings.impossible().get(setting);
    if (impossible != null) {
      reasons.put(setting, impossible);
      return "not possible: " + setting;
    }
    List<FigureKey> keys = findings.summedUp(workload.name());
    if (keys.stream().allMatch(key -> findings.values(key, setting).isEmpty())) {
      return "no figures";
    }
    if (setting.equals(findings.baseline())) {
      return "baseline";
    }
    return findings
        .overhead(keys, setting)
        .map(HypervisorTable::text)
        .orElse("baseline has no figures");
  }

  private static String text(Overhead overhead) {
    return Numbers.overhead(overhead.ratio())
        + overhead.interval().map(i -> " (" + Numbers.overheads(i) + ")").orElse("");
  }

  private List<String> header() {
    return Stream.concat(Stream.of("GPU", "workload"), columns.stream()).toList();
  }

  /**
   * Writes the section, and a table with more rows than the report has room for into the appendix
   * too; nothing if the table is empty.
   */
  void write(Html html, Html appendix) {
    if (rows.isEmpty()) {
      return;
    }
    html.element("h2", "Hypervisors");
    html.element(
        "p",
        "The same means as above, by hypervisor: bare is the machine itself, lxc are containers.");
    table(html, rows.subList(0, Math.min(rows.size(), HtmlReport.MOST_ROWS)));
    HtmlReport.more(html, rows.size());
    reasons.forEach((setting, why) -> html.element("p", "Not possible: " + setting + ": " + why));
    if (rows.size() > HtmlReport.MOST_ROWS) {
      appendix.element("h2", "Hypervisors");
      table(appendix, rows);
    }
  }

  private void table(Html html, List<List<String>> shown) {
    html.open("table", "class", "words").open("thead").open("tr");
    header().forEach(name -> html.element("th", name));
    html.close().close().open("tbody");
    for (List<String> row : shown) {
      html.open("tr");
      row.forEach(cell -> html.element("td", cell));
      html.close();
    }
    html.close().close();
  }

  /** The table in Markdown, without the reasons why settings are not possible. */
  public List<String> lines() {
    if (rows.isEmpty()) {
      return List.of();
    }
    List<String> lines = new ArrayList<>();
    lines.add(line(header()));
    lines.add("|---".repeat(header().size()) + "|");
    rows.forEach(row -> lines.add(line(row)));
    return List.copyOf(lines);
  }

  private static String line(List<String> cells) {
    return "| " + String.join(" | ", cells) + " |";
  }

  /** The rows with their cells by column. */
  public List<Map<String, String>> tree() {
    List<Map<String, String>> tree = new ArrayList<>();
    for (List<String> row : rows) {
      Map<String, String> cells = new LinkedHashMap<>();
      for (int i = 0; i < row.size(); i++) {
        cells.put(header().get(i), row.get(i));
      }
      tree.add(cells);
    }
    return List.copyOf(tree);
  }
}
