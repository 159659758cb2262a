package graft.cli.terminal;

import graft.common.bind.Problem;
import java.util.LinkedHashMap;
import java.util.Map;

/** Problems of a descriptor as trees for JSON. */
public final class ProblemTree {
  private ProblemTree() {}

  /** A problem as a tree. */
  public static Map<String, Object> of(Problem problem) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("file", problem.position().file());
    tree.put("line", problem.position().line());
    tree.put("column", problem.position().column());
    tree.put("message", problem.message());
    tree.put("hint", problem.hint());
    return tree;
  }
}
