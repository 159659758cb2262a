package graft.cli.slurm;

import graft.cli.printed.SlurmForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.common.GraftException;
import graft.common.grants.Grant;
import graft.common.grants.TokensFile;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code graft slurm status}. */
@Prints(SlurmForms.Pool.class)
@Command(
    name = "status",
    mixinStandardHelpOptions = true,
    header = "Shows the pool, the jobs that have tokens, and what differs from the installation.",
    description = {
      "",
      "Ends with 7 if a script or Slurm's configuration is not as it was installed.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {"  graft slurm status", "  graft slurm status --output json"})
final class SlurmStatusCommand implements Callable<Integer> {
  @Mixin Output output;
  @Mixin SlurmCommand.Folder folder;

  @Override
  public Integer call() {
    PoolFiles files = folder.files();
    Map<String, String> pool = files.pool();
    if (pool.isEmpty()) {
      throw new GraftException("there is no pool in " + folder.path, "see graft slurm install");
    }
    List<String> differences = new ArrayList<>();
    files.changed().forEach(file -> differences.add(file + " is not as it was installed"));
    Path conf = Path.of(pool.getOrDefault("CONF", ""));
    if (!SlurmConf.of(PoolFiles.text(conf)).hasBlock()) {
      differences.add(conf + " has no lines of graft slurm install; right if it was --manual");
    }
    List<Map<String, Object>> jobs = new ArrayList<>();
    for (Grant grant : jobs(pool).values()) {
      Map<String, Object> job = new LinkedHashMap<>();
      job.put("job", grant.name().substring(JOB.length()));
      job.put("settings", grant.settings());
      long expires = grant.expires().orElse(0);
      job.put("expires", Instant.ofEpochSecond(expires).toString());
      job.put("expired", grant.isExpired(Instant.now()));
      jobs.add(job);
    }
    output.say(
        "pool %s: %s licences of %s, %d jobs with a token"
            .formatted(folder.path, pool.get("LICENSES"), pool.get("SERVER"), jobs.size()));
    for (Map<String, Object> job : jobs) {
      output.say("  job " + job.get("job") + ": " + job.get("settings"));
    }
    differences.forEach(difference -> output.say("differs: " + difference));
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("folder", folder.path.toString());
    tree.put("server", pool.get("SERVER"));
    tree.put("licenses", Integer.parseInt(pool.getOrDefault("LICENSES", "0")));
    tree.put("jobs", jobs);
    tree.put("differences", differences);
    output.result(tree);
    return differences.isEmpty() ? ExitCode.OK : ExitCode.DIFFERS;
  }

  /** What the names of jobs begin with in the tokens file. */
  static final String JOB = "slurm-";

  /** The lines of jobs in the tokens file, by their names. */
  static Map<String, Grant> jobs(Map<String, String> pool) {
    Path tokens = Path.of(pool.getOrDefault("STATE", ""), "tokens");
    try {
      Map<String, Grant> jobs = new LinkedHashMap<>(new TokensFile(tokens).readIfThere());
      jobs.keySet().removeIf(name -> !name.startsWith(JOB));
      return jobs;
    } catch (IOException e) {
      throw new GraftException(e.getMessage(), "run this as root on Slurm's controller", e);
    }
  }
}
