package graft.cli.slurm;

import graft.cli.printed.SlurmForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.OperatorAudit;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.common.GraftException;
import graft.common.grants.Grant;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code graft slurm uninstall}. */
@Prints(SlurmForms.Removed.class)
@Command(
    name = "uninstall",
    mixinStandardHelpOptions = true,
    header = "Removes the pool from Slurm's controller.",
    description = {
      "",
      "Removes Graft's lines from slurm.conf and gres.conf, its job_submit.lua, its file for cron,"
          + " and the folder of its scripts. The state folder stays, with the accounts. While jobs"
          + " have tokens, nothing is removed.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {"  graft slurm uninstall"})
final class SlurmUninstallCommand implements Callable<Integer> {
  @Mixin Output output;
  @Mixin SlurmCommand.Folder folder;

  @Override
  public Integer call() {
    PoolFiles files = folder.files();
    Map<String, String> pool = files.pool();
    if (pool.isEmpty()) {
      output.say("there is no pool in " + folder.path);
      output.result(Map.of("removed", false));
      return ExitCode.OK;
    }
    List<String> jobs =
        SlurmStatusCommand.jobs(pool).values().stream()
            .filter(grant -> !grant.isExpired(Instant.now()))
            .map(Grant::name)
            .map(name -> name.substring(SlurmStatusCommand.JOB.length()))
            .toList();
    if (!jobs.isEmpty()) {
      throw new GraftException(
          "jobs have tokens of the pool: " + String.join(", ", jobs),
          "wait for their ends, or end them: scancel " + String.join(" ", jobs));
    }
    Path conf = Path.of(pool.getOrDefault("CONF", ""));
    removeBlock(conf);
    Path gres = conf.resolveSibling("gres.conf");
    removeBlock(gres);
    if (PoolFiles.text(gres).isBlank()) {
      PoolFiles.delete(gres);
    }
    Path lua = conf.resolveSibling("job_submit.lua");
    if (PoolFiles.text(lua).equals(files.jobSubmit())) {
      PoolFiles.delete(lua);
    }
    String cron = pool.getOrDefault("CRON", "");
    if (!cron.isEmpty()) {
      PoolFiles.delete(Path.of(cron));
    }
    files.remove();
    OperatorAudit.write(
        output.err(), "slurm-uninstalled", Map.of("folder", folder.path.toString()));
    output.say("the pool is removed; " + pool.getOrDefault("STATE", "its state folder") + " stays");
    output.say("restart slurmctld and the nodes' slurmd, and remove the folder from the nodes");
    output.result(Map.of("removed", true));
    return ExitCode.OK;
  }

  private static void removeBlock(Path file) {
    SlurmConf conf = SlurmConf.of(PoolFiles.text(file));
    if (conf.hasBlock()) {
      PoolFiles.replace(file, conf.without().text());
    }
  }
}
