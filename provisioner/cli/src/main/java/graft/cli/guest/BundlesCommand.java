package graft.cli.guest;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.common.GraftException;
import graft.common.bind.Spelling;
import graft.common.values.Name;
import graft.guests.bundle.Bundle;
import graft.guests.bundle.Bundles;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code graft bundles}: lists the bundles that guests can get. */
@Command(
    name = "bundles",
    mixinStandardHelpOptions = true,
    header = "Lists the bundles for setup: {bundles: ...}, or shows one.",
    description = {
      "",
      "A bundle of your own is a folder NAME with a bundle.yaml, in bundles/ beside the descriptor or"
          + " in /etc/graft/bundles. Copy one that is shown here to start with.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {"  graft bundles", "  graft bundles rcuda-client"})
public final class BundlesCommand implements Callable<Integer> {
  @Mixin Output output;

  @Parameters(arity = "0..1", paramLabel = "NAME", description = "The bundle to show.")
  String name;

  @Option(
      names = "--folder",
      paramLabel = "FOLDER",
      defaultValue = ".",
      description = "The descriptor's folder (default: the current one).")
  Path folder;

  @Override
  public Integer call() throws Exception {
    Bundles bundles = Bundles.near(folder.toAbsolutePath().normalize());
    Set<String> names = bundles.names();
    if (name != null) {
      return show(bundles, names);
    }
    Map<String, Object> tree = new LinkedHashMap<>();
    for (String one : names) {
      Bundle bundle = bundles.find(new Name(one)).orElseThrow().bundle();
      tree.put(one, bundle.description());
      output.say(one + "\n    " + bundle.description());
    }
    output.result(tree);
    return ExitCode.OK;
  }

  private int show(Bundles bundles, Set<String> names) {
    if (!names.contains(name)) {
      throw new GraftException("there is no bundle '" + name + "'", Spelling.hint(name, names));
    }
    String text = Bundles.text(bundles.find(new Name(name)).orElseThrow());
    output.say(text.stripTrailing());
    output.result(Map.of("name", name, "text", text));
    return ExitCode.OK;
  }
}
