package graft.cli.host;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.common.GraftException;
import graft.common.program.ClientFolder;
import graft.common.values.MemorySize;
import graft.comparison.local.PrivateServer;
import graft.comparison.local.ProgramEnvironment;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code graft run}: runs a program of this machine on a remote GPU. */
@Command(
    name = "run",
    exitCodeOnExecutionException = ExitCode.NOT_RUN,
    mixinStandardHelpOptions = true,
    header = "Runs a program of this machine on a server's GPU.",
    description = {
      "",
      "The program is given the client in place of the CUDA driver, and needs no change. With --server"
          + " it uses that server, with the token in --token-file. With --device it gets a private"
          + " server, which ends with the program. --device software runs programs on a machine"
          + " without a GPU.",
      "",
      "Ends with the program's exit code, or 125 if it could not be run.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft run --device software -- ./vectorAdd",
      "  graft run --server tcp://gpu-node:7799 --name me --token-file ~/.graft-token -- ./train",
      "  graft run --server shm:///run/graft.sock --name me --token-file ~/.graft-token -- ./train"
    })
public final class RunCommand implements Callable<Integer> {
  @Mixin Output output;

  @ArgGroup(multiplicity = "1")
  Where where;

  /** The options that select the GPU. */
  static final class Where {
    @Option(
        names = "--server",
        paramLabel = "URL",
        description =
            "The server to use: an address at which it listens, or shm:///PATH for shared memory over"
                + " its Unix socket, rdma://HOST:PORT for UCX over its port.")
    ServerAddress server;

    @Option(
        names = "--device",
        paramLabel = "DEVICE",
        description = "Start a private server for software, gpu or gpu:N.")
    String device;
  }

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description =
          "The name that belongs to the token in the server's list (default: ${DEFAULT-VALUE}).",
      defaultValue = "${sys:user.name}")
  String name;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "The file with the token for --server, mode 0600.")
  Path tokenFile;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      description = "The memory size of the device of --device.")
  MemorySize memory;

  @Parameters(
      arity = "1..*",
      paramLabel = "PROGRAM",
      description = "The program and its arguments, after --.")
  List<String> words;

  @Override
  public Integer call() throws Exception {
    if (where.server != null) {
      // Without a token, a server without --insecure refuses the program with a message.
      return run(where.server, name, tokenFile == null ? null : tokenFile.toAbsolutePath());
    }
    try (PrivateServer server = PrivateServer.start(where.device, memory)) {
      return run(
          new ServerAddress(server.endpoint().toString()), PrivateServer.NAME, server.tokenFile());
    }
  }

  private int run(ServerAddress server, String client, Path token) throws InterruptedException {
    List<String> command = new ArrayList<>(words);
    ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
    ProgramEnvironment.remote("server", ClientFolder.existing(), server.toString(), client, token)
        .applyTo(builder.environment());
    try {
      // Ctrl-C reaches the program too. The program decides how to react, and graft waits for its
      // end.
      return builder.start().waitFor();
    } catch (IOException e) {
      throw new GraftException(e.getMessage(), "", e);
    }
  }
}
