package graft.comparison.sharing;

import graft.common.json.Json;
import graft.comparison.results.Results;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The measurements of {@link SharingBench} as a table, as JSON and as drawings. */
public final class SharingReport {
  private final Scope scope;
  private final Results results;
  private final String channel;
  private final List<Figure> figures;

  /**
   * Computes the figures.
   *
   * @param channel the channel that the guests used
   */
  public SharingReport(Scope scope, Results results, String channel) {
    this.scope = scope;
    this.results = results;
    this.channel = channel;
    this.figures = SharingFigures.of(scope, results, channel);
  }

  /** The figures and their goals as a table in Markdown, and how many goals are met. */
  public String table() {
    boolean natively = results.settings().contains(SharingBench.NATIVE);
    StringBuilder text = new StringBuilder();
    text.append("| part | case | figure | unit | ").append(channel);
    text.append(natively ? " | native" : "").append(" | goal | |\n");
    text.append("|---".repeat(natively ? 8 : 7)).append("|\n");
    for (Figure figure : figures) {
      text.append("| ").append(figure.part());
      text.append(" | ").append(figure.what());
      text.append(" | ").append(figure.name());
      text.append(" | ").append(figure.unit());
      text.append(" | ").append(figure.valueText());
      text.append(natively ? " | " + figure.nativeText() : "");
      text.append(" | ").append(figure.goalText());
      text.append(" | ").append(figure.verdict()).append(" |\n");
    }
    text.append("\ngoals met: ").append(met()).append(" of ").append(goals()).append('\n');
    if (!natively) {
      text.append("The device has no native driver, so that there is nothing to compare with.\n");
    }
    return text.toString();
  }

  private long met() {
    return figures.stream().filter(Figure::hasGoal).filter(Figure::isMet).count();
  }

  private long goals() {
    return figures.stream().filter(Figure::hasGoal).count();
  }

  /**
   * The figures and all samples as a tree for JSON, which is also a results file.
   *
   * @param machine facts of the machine
   */
  public Map<String, Object> tree(Map<String, String> machine) {
    Map<String, Object> tree = new LinkedHashMap<>(results.tree(machine));
    tree.put("figures", figures.stream().map(Figure::tree).toList());
    tree.put("goals", goals());
    tree.put("goalsMet", met());
    return tree;
  }

  /**
   * Writes the table, the figures as JSON, the samples as a results file, and the drawings.
   *
   * @return the names of the files
   */
  public List<String> save(Path folder, Map<String, String> machine) throws IOException {
    Map<String, String> files = new LinkedHashMap<>();
    files.put("sharing.md", table());
    files.put("sharing.json", Json.line(tree(machine)) + "\n");
    StringBuilder samples = new StringBuilder();
    results.trees().forEach(tree -> samples.append(Json.line(tree)).append('\n'));
    files.put("results.jsonl", samples.toString());
    files.putAll(new SharingPlots(scope, results, channel).draw());
    Files.createDirectories(folder);
    for (Map.Entry<String, String> file : files.entrySet()) {
      Files.writeString(folder.resolve(file.getKey()), file.getValue());
    }
    return List.copyOf(files.keySet());
  }
}
