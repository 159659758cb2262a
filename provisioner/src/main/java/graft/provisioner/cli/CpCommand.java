package graft.provisioner.cli;

import graft.provisioner.GraftException;
import graft.provisioner.observe.Connections;
import graft.provisioner.reach.Reach;
import graft.provisioner.state.PrivateFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
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
      "One of the two is GUEST:PATH with an absolute path, the other a file of this machine. A"
          + " program stays a program. A file that is there is replaced once the copy is whole.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft cp lab.yaml ./train alice:/usr/local/bin/train",
      "  graft cp lab alice:/var/log/train.log ."
    })
final class CpCommand implements Callable<Integer> {
  private static final String NEW = ".graft-new";

  @Mixin Output output;
  @Mixin Target target;

  @Parameters(index = "1", paramLabel = "FROM", description = "The file.")
  String from;

  @Parameters(index = "2", paramLabel = "TO", description = "Where the copy goes.")
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
      Reach reach = GuestReach.of(Target.journal(target.state()), guest).open(connections);
      bytes = out ? out(reach, path) : in(reach, path);
    }
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("from", from);
    tree.put("to", to);
    tree.put("bytes", bytes);
    output.say(bytes + " bytes to " + to);
    output.result(tree);
    return ExitCode.OK;
  }

  /** {@code alice:/path}, and neither {@code ./alice:/path} nor {@code C}. */
  private static boolean isInGuest(String text) {
    return text.matches("[a-z0-9-]+:/.*");
  }

  private long out(Reach reach, String path) throws IOException {
    Path file = Path.of(to);
    Path copy =
        Files.isDirectory(file) ? file.resolve(path.substring(path.lastIndexOf('/') + 1)) : file;
    Path whole = copy.toAbsolutePath();
    try {
      PrivateFiles.write(whole, content -> reach.get(path, content));
    } catch (IOException | RuntimeException e) {
      Files.deleteIfExists(whole.resolveSibling(whole.getFileName() + ".unfinished"));
      throw e;
    }
    return Files.size(whole);
  }

  private long in(Reach reach, String path) throws IOException {
    Path file = Path.of(from);
    if (!Files.isReadable(file) || Files.isDirectory(file)) {
      throw new GraftException("there is no file " + file + " that can be read", "");
    }
    String copy = path.endsWith("/") ? path + file.getFileName() : path;
    try (InputStream content = Files.newInputStream(file)) {
      reach.put(content, copy + NEW, Files.isExecutable(file) ? 0755 : 0644);
    }
    GuestPrograms.run(reach, "mv", "-f", copy + NEW, copy);
    return Files.size(file);
  }
}
