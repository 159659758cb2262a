package graft.guests.bundle;

import graft.common.values.FileMode;
import graft.guests.payload.Payload;
import graft.guests.payload.PayloadFile;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Combines the contents of several bundles into the payload of a guest. */
public final class PayloadBuilder {
  private final Function<Path, List<TreeFile>> trees;
  private final Map<String, PayloadFile> files = new LinkedHashMap<>();
  private final Set<String> packages = new LinkedHashSet<>();
  private final Map<String, String> environment = new LinkedHashMap<>();
  private final Set<String> services = new LinkedHashSet<>();

  /**
   * Creates a builder. {@code trees} returns the files of a source, or none if the source is
   * missing.
   */
  public PayloadBuilder(Function<Path, List<TreeFile>> trees) {
    this.trees = trees;
  }

  /**
   * The variables of a bundle: the given ones, the defaults of the bundle's other settings, and for
   * the server the texts of its units.
   *
   * @throws IllegalArgumentException with a message for the user if a setting has no value
   */
  public static Variables variables(Bundle bundle, Variables given) {
    Variables variables = given;
    for (BundleSetting setting : bundle.settings()) {
      String name = setting.name().text();
      if (given.value(name).isEmpty()) {
        String value =
            setting
                .value()
                .orElseThrow(
                    () ->
                        new IllegalArgumentException(
                            "it needs a value for '" + name + "': " + setting.description()));
        variables = variables.with(name, value);
      }
    }
    return bundle.name().equals(Bundles.SERVER) ? GuestServer.withUnits(variables) : variables;
  }

  /**
   * Adds a bundle.
   *
   * @param given the given variables; other settings of the bundle have their defaults
   * @throws IllegalArgumentException with a message for the user
   */
  public void add(FoundBundle found, Variables given) {
    Bundle bundle = found.bundle();
    Variables variables = variables(bundle, given);
    for (BundleFile file : bundle.files()) {
      file(found, file, variables);
    }
    bundle.packages().forEach(name -> packages.add(name.text()));
    bundle.services().forEach(name -> services.add(name.text()));
    for (String setting : bundle.environment()) {
      String text = variables.expand(setting);
      String name = text.substring(0, text.indexOf('='));
      String before = environment.put(name, text);
      if (before != null && !before.equals(text)) {
        throw new IllegalArgumentException(
            "it sets the variable " + name + ", which another bundle of the guest sets as well");
      }
    }
  }

  private void file(FoundBundle found, BundleFile file, Variables variables) {
    if (file.content().isPresent()) {
      int mode = mode(file, variables, 0644);
      String text = variables.expand(file.content().get());
      add(PayloadFile.text(text, file.path(), mode).inGroup(variables.expand(file.group())));
      return;
    }
    Path source = found.source(file.source().orElseThrow(), variables);
    String group = variables.expand(file.group());
    if (file.secret()) {
      int mode = mode(file, variables, 0600);
      add(PayloadFile.secret(source, file.path(), mode).inGroup(group));
      return;
    }
    List<TreeFile> tree = trees.apply(source).stream().filter(one -> wanted(file, one)).toList();
    if (tree.isEmpty()) {
      throw new IllegalArgumentException("there is no file " + source + " for " + file.path());
    }
    for (TreeFile one : tree) {
      int mode = mode(file, variables, one.executable() ? 0755 : 0644);
      add(PayloadFile.of(one.stamp(), file.path() + one.relative(), mode).inGroup(group));
    }
  }

  private static boolean wanted(BundleFile file, TreeFile one) {
    return file.only().isEmpty()
        || FileSystems.getDefault()
            .getPathMatcher("glob:" + file.only().get())
            .matches(one.stamp().path().getFileName());
  }

  private static int mode(BundleFile file, Variables variables, int absent) {
    return file.mode().map(m -> FileMode.parse(variables.expand(m)).bits()).orElse(absent);
  }

  /**
   * Adds a file.
   *
   * @throws IllegalArgumentException with a message for the user if the payload already has a file
   *     at the same path
   */
  public void add(PayloadFile file) {
    if (files.putIfAbsent(file.path(), file) != null) {
      throw new IllegalArgumentException("two files go to " + file.path());
    }
  }

  /** The payload. */
  public Payload build(String hostName) {
    if (!environment.isEmpty()) {
      add(
          PayloadFile.text(
              environment.values().stream()
                  .map(s -> "export " + s.replaceFirst("=", "='").replace("\n", "") + "'\n")
                  .collect(Collectors.joining()),
              "/etc/profile.d/zz-graft.sh",
              0644));
      add(
          PayloadFile.text(
              "[Manager]\nDefaultEnvironment="
                  + environment.values().stream()
                      .map(s -> "\"" + s.replace("%", "%%") + "\"")
                      .collect(Collectors.joining(" "))
                  + "\n",
              "/etc/systemd/system.conf.d/graft.conf",
              0644));
    }
    return new Payload(
        hostName,
        List.copyOf(files.values()),
        List.copyOf(packages),
        new ArrayList<>(environment.values()),
        List.copyOf(services));
  }
}
