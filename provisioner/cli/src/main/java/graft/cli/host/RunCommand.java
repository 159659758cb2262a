package graft.cli.host;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.common.program.ClientFolder;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

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
          + " without a GPU. With several --server one program uses the GPUs of all of them.",
      "",
      "Ends with the program's exit code, or 125 if it could not be run.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft run --device software -- ./vectorAdd",
      "  graft run --server tcp://gpu-node:7799 --name me --token-file ~/.graft-token -- ./train",
      "  graft run --profiler --server tcp://gpu-node:7799 --token-file token -- python train.py",
      "  graft run --server shm:///run/graft.sock --name me --token-file ~/.graft-token -- ./train",
      "  graft run --server tcp://node1:7799 --server tcp://node2:7799 --name me --token-file ~/.graft-token -- ./train"
    })
public final class RunCommand implements Callable<Integer> {
  @Mixin Output output;

  @Mixin RemoteProgram program;

  @Option(
      names = "--profiler",
      description =
          "Load Graft's libcupti into the program before any other, so that torch.profiler and"
              + " Triton's proton see its kernels.")
  boolean isProfiled;

  @Override
  public Integer call() throws Exception {
    return program.run(
        isProfiled
            ? ProfilerLibrary.environment(ClientFolder.existing(), System.getenv())
            : Map.of());
  }
}
