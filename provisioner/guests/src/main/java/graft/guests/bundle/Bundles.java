package graft.guests.bundle;

import graft.common.bind.Position;
import graft.common.bind.Positions;
import graft.common.bind.Problem;
import graft.common.bind.Problems;
import graft.common.bind.RecordBinder;
import graft.common.bind.YamlFile;
import graft.common.values.Name;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.yaml.snakeyaml.nodes.Node;

/**
 * Finds and reads bundles. A site's bundle is a folder {@code NAME} with a {@code bundle.yaml}, in
 * {@code bundles/} beside the descriptor or in {@code /etc/graft/bundles}; such a bundle takes
 * precedence over a built-in one of the same name.
 */
public final class Bundles {
  /** The bundle for guests with a vGPU. */
  public static final Name CLIENT = new Name("graft-client");

  /** The bundle for guests that own a GPU. */
  public static final Name SERVER = new Name("graft-server");

  private static final List<String> BUILT_IN =
      List.of(
          "ds-cuda-client",
          "ds-cuda-server",
          "graft-client",
          "graft-profiler",
          "graft-server",
          "gvirtus-client",
          "gvirtus-server",
          "infiniband",
          "lupine-client",
          "lupine-server",
          "nvidia-driver",
          "rcuda-client",
          "rcuda-server");

  private static final Path SITE = Path.of("/etc/graft/bundles");
  private static final String FILE = "bundle.yaml";
  private static final Pattern SETTING = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*=[^\\n\"\\\\]*");

  private final List<Path> folders;

  private Bundles(List<Path> folders) {
    this.folders = folders;
  }

  /** Finds the bundles for descriptors in a folder. */
  public static Bundles near(Path folder) {
    return new Bundles(List.of(folder.resolve("bundles"), SITE));
  }

  /** The names of all bundles. */
  public Set<String> names() {
    Set<String> names = new TreeSet<>(BUILT_IN);
    for (Path folder : folders) {
      if (Files.isDirectory(folder)) {
        try (Stream<Path> children = Files.list(folder)) {
          children
              .filter(child -> Files.exists(child.resolve(FILE)))
              .forEach(child -> names.add(child.getFileName().toString()));
        } catch (IOException e) {
          throw new BundleException("cannot list " + folder + ": " + e.getMessage(), "", e);
        }
      }
    }
    return names;
  }

  /**
   * The bundle with a name; empty if there is none.
   *
   * @throws BundleException with all errors of the bundle
   */
  public Optional<FoundBundle> find(Name name) {
    for (Path folder : folders) {
      Path own = folder.resolve(name.text());
      if (Files.exists(own.resolve(FILE))) {
        return Optional.of(
            new FoundBundle(
                parse(name, own.resolve(FILE).toString(), read(own)), Optional.of(own)));
      }
    }
    return BUILT_IN.contains(name.text())
        ? Optional.of(new FoundBundle(parse(name, name + ".yaml", builtIn(name)), Optional.empty()))
        : Optional.empty();
  }

  /** The text of a bundle, as a template for new bundles. */
  public static String text(FoundBundle found) {
    return found.folder().map(Bundles::read).orElseGet(() -> builtIn(found.bundle().name()));
  }

  private static String builtIn(Name name) {
    try (InputStream in = Bundles.class.getResourceAsStream(name + ".yaml")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new BundleException("cannot read the bundle '" + name + "'", "", e);
    }
  }

  private static String read(Path folder) {
    try {
      return Files.readString(folder.resolve(FILE));
    } catch (IOException e) {
      throw new BundleException(
          "cannot read the bundle in " + folder + ": " + e.getMessage(), "", e);
    }
  }

  private static Bundle parse(Name name, String file, String text) {
    Problems problems = new Problems();
    Positions positions = new Positions(new Position(file, 1, 1));
    Optional<Node> root = YamlFile.compose(file, text, problems);
    Bundle bundle =
        root.map(node -> new RecordBinder(file, problems, positions).bind(node, Bundle.class))
            .orElse(null);
    if (bundle != null && problems.isEmpty()) {
      check(name, bundle, positions, problems);
    }
    if (!problems.isEmpty()) {
      String all =
          problems.sorted().stream().map(Problem::toString).collect(Collectors.joining("\n"));
      throw new BundleException("the bundle '" + name + "' is wrong:\n" + all, "", null);
    }
    return bundle;
  }

  private static void check(Name name, Bundle bundle, Positions positions, Problems problems) {
    if (!bundle.name().equals(name)) {
      problems.add(positions.of(bundle, "name"), "its folder is called " + name);
    }
    Set<String> paths = new LinkedHashSet<>();
    for (BundleFile file : bundle.files()) {
      Position at = positions.of(file);
      if (file.source().isPresent() == file.content().isPresent()) {
        problems.add(at, "a file has either a 'source' or a 'content'");
      }
      if (!GuestPaths.isFile(file.path())) {
        problems.add(at, "'" + file.path() + "' is not an absolute path");
      }
      if (!paths.add(file.path())) {
        problems.add(at, "two files go to " + file.path());
      }
    }
    List<String> wrong = new ArrayList<>(bundle.environment());
    wrong.removeIf(setting -> SETTING.matcher(setting).matches());
    wrong.forEach(
        setting ->
            problems.add(
                positions.of(bundle, "environment"), "'" + setting + "' is not NAME=VALUE"));
  }
}
