package graft.cli.guest;

import graft.cli.deployment.Target;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.common.GraftException;
import graft.deployment.AppliedGuest;
import graft.deployment.Deployments;
import graft.deployment.GuestFiles;
import graft.deployment.observe.Connections;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code graft cp}: copies a file into a guest or out of it. */
@Command(
    name = "cp",
    mixinStandardHelpOptions = true,
    header = "Copies a file into a guest, or out of it.",
    description = {
      "",
      "One of the two is GUEST:PATH with an absolute path, the other a file of this machine."
          + " Programs stay executable. An existing file is replaced when the copy is complete.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft cp lab.yaml ./train alice:/usr/local/bin/train",
      "  graft cp lab alice:/var/log/train.log ."
    })
public final class CpCommand implements Callable<Integer> {
  @Mixin Output output;
  @Mixin Target target;

  @Parameters(index = "1", paramLabel = "FROM", description = "The file.")
  String from;

  @Parameters(index = "2", paramLabel = "TO", description = "The destination.")
  String to;

  @Override
  public Integer call() throws Exception {
    boolean out = isInGuest(from);
    if (out == isInGuest(to)) {
      throw new GraftException(
          "neither or both of '" + from + "' and '" + to + "' are in a guest",
          "write the one in the guest as GUEST:/PATH");
    }
    String there = out ? from : to;
    String guest = there.substring(0, there.indexOf(':'));
    String path = there.substring(there.indexOf(':') + 1);
    long bytes;
    try (Connections connections = new Connections()) {
      AppliedGuest applied = AppliedGuest.of(Deployments.journal(target.state()), guest);
      GuestFiles files = new GuestFiles(applied.open(connections));
      bytes = out ? files.fetch(path, Path.of(to)) : files.bring(Path.of(from), path);
    }
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("from", from);
    tree.put("to", to);
    tree.put("bytes", bytes);
    output.say(bytes + " bytes to " + to);
    output.result(tree);
    return ExitCode.OK;
  }

  /**
   * Whether the text names a file in a guest: {@code alice:/path} does, {@code ./alice:/path} and
   * {@code C} do not.
   */
  private static boolean isInGuest(String text) {
    return text.matches("[a-z0-9-]+:/.*");
  }
}
