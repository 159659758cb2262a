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
  private YamlFile() {}

  /**
   * The root node. If the text is not exactly one YAML document, the result is empty and a problem
   * is added.
   */
  public static Optional<Node> compose(String file, String text, Problems problems) {
    LoaderOptions options = new LoaderOptions();
    options.setAllowRecursiveKeys(false);
    try {
      ParserImpl parser = new ParserImpl(new StreamReader(text), options);
      Node root = new Composer(parser, new Resolver(), options).getSingleNode();
      if (root == null) {
        problems.add(new Position(file, 1, 1), "the file is empty", "graft inspect prints a start");
      }
      return Optional.ofNullable(root);
    } catch (MarkedYAMLException e) {
      Mark mark = e.getProblemMark();
      Position at =
          mark == null
              ? new Position(file, 1, 1)
              : new Position(file, mark.getLine() + 1, mark.getColumn() + 1);
      problems.add(at, "not valid YAML: " + e.getProblem());
      return Optional.empty();
    } catch (YAMLException e) {
      problems.add(new Position(file, 1, 1), "not valid YAML: " + e.getMessage());
      return Optional.empty();
    }
  }
}
