package graft.cli.slurm;

import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code graft slurm}: a pool of vGPUs for the jobs of Slurm. */
@Command(
    name = "slurm",
    mixinStandardHelpOptions = true,
    header = "Gives the jobs of Slurm vGPUs of a server.",
    synopsisSubcommandLabel = "COMMAND",
    description = {
      "",
      "A job that asks for --gres=graft gets a licence of the pool, and waits while there is none."
          + " When it starts, its token goes into the tokens file of the server, and its tasks find"
          + " the server and the token in their environment. When it ends, the token is removed,"
          + " and its GPU seconds are written down.",
      ""
    },
    subcommands = {
      SlurmInstallCommand.class,
      SlurmStatusCommand.class,
      SlurmUninstallCommand.class
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft slurm install --server tcp://gpu1:8450 --state /shared/graft --licenses 4",
      "  graft slurm status",
      "  graft slurm uninstall"
    })
public final class SlurmCommand implements Runnable {
  @Spec CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "which command? graft slurm --help lists them");
  }

  /** The option that all of the commands have. */
  static final class Folder {
    @Option(
        names = "--folder",
        paramLabel = "FOLDER",
        defaultValue = "/etc/graft/slurm",
        description = "The folder of the pool's scripts and key (default: ${DEFAULT-VALUE}).")
    Path path;

    PoolFiles files() {
      return new PoolFiles(path);
    }
  }
}
