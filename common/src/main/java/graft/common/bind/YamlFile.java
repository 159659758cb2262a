package graft.common.bind;

import java.util.Optional;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.composer.Composer;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.parser.ParserImpl;
import org.yaml.snakeyaml.reader.StreamReader;
import org.yaml.snakeyaml.resolver.Resolver;

/** Parses YAML text into SnakeYAML's node tree, whose nodes carry their positions. */
public final class YamlFile {
  /** Thousands of hosts with their GPUs and guests have a few million characters. */
  private static final int MOST_CHARACTERS = 16 << 20;

  private YamlFile() {}

  /**
   * The root node. If the text is not exactly one YAML document, the result is empty and a problem
   * is added.
   */
  public static Optional<Node> compose(String file, String text, Problems problems) {
    LoaderOptions options = new LoaderOptions();
    options.setAllowRecursiveKeys(false);
    options.setCodePointLimit(MOST_CHARACTERS);
    try {
      ParserImpl parser = new ParserImpl(new StreamReader(text), options);
      Node root = new Composer(parser, new Resolver(), options).getSingleNode();
      if (root == null) {
        problems.add(new Position(file, 1, 1), "the file is empty", "graft inspect prints a start");
      }
      return Optional.ofNullable(root);
    } catch (MarkedYAMLException e) {
      explain(file, e, problems);
      return Optional.empty();
    } catch (YAMLException e) {
      problems.add(new Position(file, 1, 1), "not valid YAML: " + e.getMessage());
      return Optional.empty();
    }
  }

  /**
   * Adds the parser's problem, in plain words where it is a common one: the parser names tokens of
   * its grammar, and the end of the file where a quote is not closed.
   */
  private static void explain(String file, MarkedYAMLException e, Problems problems) {
    String problem = String.valueOf(e.getProblem());
    String context = String.valueOf(e.getContext());
    Position at = position(file, e.getProblemMark());
    Position begin = position(file, e.getContextMark());
    if (context.contains("quoted scalar") && problem.contains("end of stream")) {
      problems.add(begin, "not valid YAML: the quote that begins here is not closed");
    } else if (context.contains("flow") && problem.contains("expected ','")) {
      problems.add(
          at,
          "not valid YAML: a ',' or a closing bracket is missing before this",
          "the bracket was opened at " + begin);
    } else if (problem.contains("expected <block end>")) {
      problems.add(
          at,
          "not valid YAML: the line does not go on with the block that begins at " + begin,
          "indent it as the other lines of its block");
    } else if (problem.contains("mapping values are not allowed here")) {
      problems.add(
          at,
          "not valid YAML: a ':' that makes a key cannot be here",
          "check the indentation, or quote a text that has ': ' in it");
    } else if (problem.contains("could not find expected ':'")) {
      problems.add(begin, "not valid YAML: ':' and a value are missing behind this key");
    } else {
      problems.add(at, "not valid YAML: " + problem);
    }
  }

  private static Position position(String file, Mark mark) {
    return mark == null
        ? new Position(file, 1, 1)
        : new Position(file, mark.getLine() + 1, mark.getColumn() + 1);
  }
}
