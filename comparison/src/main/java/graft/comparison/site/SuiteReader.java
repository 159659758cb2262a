package graft.comparison.site;

import graft.common.bind.Position;
import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.common.bind.RecordBinder;
import graft.common.bind.YamlFile;
import graft.comparison.suite.Fault;
import graft.comparison.suite.Published;
import graft.comparison.suite.PublishedFigures;
import graft.comparison.suite.Suite;
import graft.comparison.suite.SuiteRules;
import graft.deployment.descriptor.InvalidDescriptorException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.yaml.snakeyaml.nodes.Node;

/** Reads a suite and the files with published figures that it names. */
public final class SuiteReader {
  private final Problems problems = new Problems();

  private SuiteReader() {}

  /**
   * Reads a file.
   *
   * @throws InvalidDescriptorException with every problem of the file
   */
  public static SuiteFile read(Path path) throws InvalidDescriptorException {
    SuiteReader reader = new SuiteReader();
    SuiteFile file = reader.suite(path);
    if (!reader.problems.isEmpty()) {
      throw new InvalidDescriptorException(reader.problems.sorted());
    }
    return file;
  }

  private SuiteFile suite(Path path) {
    Position start = new Position(path.toString(), 1, 1);
    Positions positions = new Positions(start);
    String text = text(path, start);
    Optional<Suite> bound = bind(path, text, positions, Suite.class);
    if (bound.isEmpty()) {
      return null;
    }
    Suite suite = bound.get();
    for (Fault fault : SuiteRules.check(suite)) {
      problems.add(positions.of(fault.part(), fault.key()), fault.message(), fault.hint());
    }
    List<Published> published = new ArrayList<>();
    for (int i = 0; i < suite.published().size(); i++) {
      Path file = path.toAbsolutePath().resolveSibling(suite.published().get(i)).normalize();
      Positions own = new Positions(new Position(file.toString(), 1, 1));
      String figures = text(file, positions.of(suite, "published[" + i + "]"));
      bind(file, figures, own, PublishedFigures.class)
          .ifPresent(p -> published.addAll(p.figures()));
    }
    return new SuiteFile(suite, path, text, List.copyOf(published));
  }

  private String text(Path path, Position named) {
    try {
      return Files.readString(path);
    } catch (IOException e) {
      problems.add(
          named,
          "cannot read " + path + ": " + e,
          "examples/compare-demo.yaml is a suite to start from");
      return "";
    }
  }

  private <T extends Record> Optional<T> bind(
      Path path, String text, Positions positions, Class<T> type) {
    if (text.isEmpty()) {
      return Optional.empty();
    }
    Optional<Node> root = YamlFile.compose(path.toString(), text, problems);
    T bound =
        root.map(r -> new RecordBinder(path.toString(), problems, positions).bind(r, type))
            .orElse(null);
    return problems.isEmpty() ? Optional.ofNullable(bound) : Optional.empty();
  }
}
