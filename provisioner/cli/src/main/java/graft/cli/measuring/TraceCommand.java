package graft.cli.measuring;

import graft.cli.host.RemoteProgram;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.common.GraftException;
import graft.common.disk.PrivateFiles;
import graft.comparison.trace.TimelineFile;
import graft.comparison.trace.TimelineSummary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code graft trace}: runs a program on a remote GPU and writes its timeline. */
@Command(
    name = "trace",
    exitCodeOnExecutionException = ExitCode.NOT_RUN,
    mixinStandardHelpOptions = true,
    header = "Runs a program on a server's GPU and writes a timeline of it.",
    description = {
      "",
      "The timeline is a JSON file for ui.perfetto.dev or chrome://tracing. It has the calls of each"
          + " thread that go to the server, those that wait for it, and the kernels, copies, memsets"
          + " and graphs of each stream with the times at which they ran on the GPU. The program's"
          + " children are in the same file. A summary is printed to standard error.",
      "",
      "The GPU's times are those of an event before and one after each piece of work, so that a"
          + " program with many small kernels is slower than without the timeline. Within a guest,"
          + " GRAFT_TRACE=trace.%%p.json before a program writes the file of each process, and graft"
          + " bench timeline prints the summary.",
      "",
      "Ends with the program's exit code, or 125 if it could not be run.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft trace --device software -- ./vectorAdd",
      "  graft trace --out train.json --server tcp://gpu-node:7799 --token-file token -- python train.py"
    })
public final class TraceCommand implements Callable<Integer> {
  @Mixin Output output;
  @Mixin RemoteProgram program;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description =
          "The file to write, which must not exist (default: PROGRAM.trace.json, with a number if it"
              + " exists).")
  Path out;

  @Option(
      names = "--top",
      paramLabel = "N",
      description =
          "How many kinds of work and of waits the summary shows (default: ${DEFAULT-VALUE}).",
      defaultValue = "10")
  int top;

  @Override
  public Integer call() throws Exception {
    Path to = target();
    Path folder = Files.createTempDirectory(to.toAbsolutePath().getParent(), ".graft-trace");
    try {
      int code = program.run(Map.of("GRAFT_TRACE", folder.resolve("%p.json").toString()));
      try (Stream<Path> files = Files.list(folder)) {
        TimelineFile.merge(files.sorted().toList(), to);
      }
      report(to);
      return code;
    } finally {
      PrivateFiles.deleteFolder(folder);
    }
  }

  private Path target() {
    if (out != null && Files.exists(out)) {
      throw new GraftException(
          out + " exists", "give another --out, or delete the file if it is not needed");
    }
    Path to = out == null ? Path.of(program.program() + ".trace.json") : out;
    for (int i = 2; Files.exists(to); i++) {
      to = Path.of(program.program() + "-" + i + ".trace.json");
    }
    if (!Files.isDirectory(to.toAbsolutePath().getParent())) {
      throw new GraftException(
          "there is no folder " + to.toAbsolutePath().getParent(),
          "create it, or give another --out");
    }
    return to;
  }

  private void report(Path file) throws IOException {
    TimelineSummary summary = TimelineSummary.of(file);
    List<String> text =
        summary.isEmpty()
            ? List.of("graft: the program called no CUDA function that goes to the server")
            : List.of(summary.text(top).stripTrailing(), "graft: the timeline is " + file);
    text.forEach(output.err()::println);
    output.err().flush();
  }
}
