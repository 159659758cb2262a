package graft.cli.deployment;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.deployment.ListedDeployment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The deployments of this host as a table. */
final class DeploymentTable {
  private static final List<String> HEADINGS =
      List.of("DEPLOYMENT", "STATE", "DRIFT", "GUESTS", "DESCRIPTOR");
  private static final String NOTHING = "-";

  private DeploymentTable() {}

  /**
   * Prints the deployments.
   *
   * @return the exit code: failed if the folder of one is damaged
   */
  static int print(Output output, List<ListedDeployment> all) {
    output.say(text(all).stripTrailing());
    output.result(tree(all));
    return code(all);
  }

  static int code(List<ListedDeployment> all) {
    return all.stream().anyMatch(ListedDeployment::isDamaged) ? ExitCode.FAILED : ExitCode.OK;
  }

  static Map<String, Object> tree(List<ListedDeployment> all) {
    return Map.of("deployments", all.stream().map(ListedDeployment::toTree).toList());
  }

  static String text(List<ListedDeployment> all) {
    if (all.isEmpty()) {
      return "no deployment has been applied\n";
    }
    List<List<String>> rows = new ArrayList<>(List.of(HEADINGS));
    all.forEach(one -> rows.add(row(one)));
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < rows.size(); i++) {
      StringBuilder line = new StringBuilder();
      for (int column = 0; column < HEADINGS.size(); column++) {
        String cell = rows.get(i).get(column);
        line.append(cell).append(" ".repeat(width(rows, column) - cell.length() + 2));
      }
      text.append(line.toString().stripTrailing()).append('\n');
      if (i > 0 && !all.get(i - 1).why().isEmpty()) {
        text.append("  ").append(all.get(i - 1).why()).append('\n');
      }
    }
    return text.toString();
  }

  private static int width(List<List<String>> rows, int column) {
    return rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
  }

  private static List<String> row(ListedDeployment one) {
    List<String> guests =
        one.guests().stream().map(guest -> guest.get("name") + " " + word(guest)).toList();
    String descriptor =
        one.descriptor().isEmpty()
            ? NOTHING
            : one.descriptor() + (one.descriptorThere() ? "" : " (gone)");
    return List.of(
        one.name(),
        one.state(),
        one.drift(),
        guests.isEmpty() ? NOTHING : String.join(", ", guests),
        descriptor);
  }

  /** A guest's state without the reason why it is unknown, which is the same for all guests. */
  private static String word(Map<String, Object> guest) {
    return String.valueOf(guest.get("state")).replaceFirst(":[\\s\\S]*", "");
  }
}
