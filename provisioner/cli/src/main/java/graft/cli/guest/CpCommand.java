package graft.cli.guest;

import graft.cli.deployment.Target;
import graft.cli.printed.GuestForms;
import graft.cli.terminal.ByteProgress;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.common.GraftException;
import graft.deployment.AppliedGuest;
import graft.deployment.Deployments;
import graft.deployment.GuestFiles;
import graft.deployment.observe.Connections;
import graft.guests.copy.CopiedFolder;
import graft.hypervisors.libvirt.calls.GuestText;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code graft cp}: copies a file or a folder into a guest or out of it. */
@Prints(GuestForms.Copied.class)
@Command(
    name = "cp",
    mixinStandardHelpOptions = true,
    header = "Copies a file or a folder into a guest, or out of it.",
    description = {
      "",
      "One of the two is GUEST:PATH with an absolute path, the other a file of this machine."
          + " Programs stay executable. An existing file is replaced when the copy is complete. A"
          + " path in the guest that ends in a slash, and an existing folder of this machine, get"
          + " the copy under its own name. A terminal shows the progress.",
      "",
      "With -r a folder is copied, by tar(1) in the guest. Where the folder exists, its files are"
          + " replaced one by one, and others stay. Links are copied into a guest, and not out of"
          + " it: there they could lead anywhere.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft cp lab.yaml ./train alice:/usr/local/bin/train",
      "  graft cp lab alice:/var/log/train.log .",
      "  graft cp -r lab ./data alice:/srv/",
      "  graft cp -r lab alice:/srv/results ."
    })
public final class CpCommand implements Callable<Integer> {
  private static final int SHOWN = 300;

  @Mixin Output output;
  @Mixin Target target;
  @Spec CommandSpec spec;

  @Parameters(index = "1", paramLabel = "FROM", description = "The file, or with -r the folder.")
  String from;

  @Parameters(index = "2", paramLabel = "TO", description = "The destination.")
  String to;

  @Option(
      names = {"-r", "--recursive"},
      description = "Copy a folder with all that is in it.")
  boolean recursive;

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
    CopiedFolder copied;
    try (Connections connections = new Connections();
        ByteProgress progress = ByteProgress.on(spec.commandLine().getErr())) {
      AppliedGuest applied = AppliedGuest.of(Deployments.journal(target.state()), guest);
      copied = copy(new GuestFiles(applied.open(connections), progress), out, path);
    } catch (IOException e) {
      throw new GraftException("cannot copy " + from + ": " + e.getMessage(), "", e);
    }
    tell(copied);
    return ExitCode.OK;
  }

  private CopiedFolder copy(GuestFiles files, boolean out, String path) throws IOException {
    if (recursive) {
      return out ? files.fetchFolder(path, Path.of(to)) : files.bringFolder(Path.of(from), path);
    }
    long bytes = out ? files.fetch(path, Path.of(to)) : files.bring(Path.of(from), path);
    return new CopiedFolder(1, bytes, 0, List.of());
  }

  private void tell(CopiedFolder copied) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("from", from);
    tree.put("to", to);
    tree.put("bytes", copied.bytes());
    tree.put("files", copied.files());
    tree.put("leftOut", copied.left());
    if (copied.left() > 0) {
      String examples = String.join(", ", copied.examples());
      output
          .err()
          .println(
              "warning: links and special files were left out: "
                  + copied.left()
                  + ", as "
                  + GuestText.line(examples, SHOWN));
      output.err().flush();
    }
    String what = recursive ? copied.files() + " files, " : "";
    output.say(what + copied.bytes() + " bytes to " + to);
    output.result(tree);
  }

  /**
   * Whether the text names a file in a guest: {@code alice:/path} does, {@code ./alice:/path} and
   * {@code C} do not.
   */
  private static boolean isInGuest(String text) {
    return text.matches("[a-z0-9-]+:/.*");
  }
}
