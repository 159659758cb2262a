package graft.cli.slurm;

import graft.cli.host.ServerAddress;
import graft.cli.printed.SlurmForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.OperatorAudit;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.common.GraftException;
import graft.common.grants.Share;
import graft.common.program.ClientFolder;
import graft.common.program.HostProgram;
import graft.common.values.MemorySize;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code graft slurm install}. */
@Prints(SlurmForms.Installed.class)
@Command(
    name = "install",
    mixinStandardHelpOptions = true,
    header = "Installs the pool on Slurm's controller.",
    description = {
      "",
      "For root on the controller. The scripts, their settings and a new key go into a folder, and"
          + " lines between two marks into slurm.conf and gres.conf, with job_submit.lua beside"
          + " them. Where slurm.conf has one of the keys already, nothing is changed, and the"
          + " command says so: with --manual it leaves Slurm's files alone and prints what to add."
          + " Afterwards the folder goes to each node at the same path, the key for root alone"
          + " (mode 0600), with slurm.conf and gres.conf.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft slurm install --server tcp://gpu1:8450 --state /shared/graft --licenses 4",
      "  graft slurm install --server tcp://gpu1:8450 --state /shared/graft --licenses 16"
          + " --gpus 8 --memory 40GiB --class-of scavenge=best-effort"
    })
final class SlurmInstallCommand implements Callable<Integer> {
  /** Programs of the scripts, and of Slurm, in whose package they lie. */
  private static final List<String> PROGRAMS =
      List.of("squeue", "scontrol", "flock", "sha256sum", "awk");

  @Mixin Output output;
  @Mixin SlurmCommand.Folder folder;

  @Option(
      names = "--server",
      required = true,
      paramLabel = "URL",
      description = "The server's address, as the nodes reach it.")
  ServerAddress server;

  @Option(
      names = "--state",
      required = true,
      paramLabel = "FOLDER",
      description =
          "The folder of the tokens file, which controller and server share: that of graft serve"
              + " --tokens FOLDER/tokens --accounting FOLDER/accounting.jsonl.")
  Path state;

  @Option(
      names = "--licenses",
      required = true,
      paramLabel = "N",
      description = "How many licences the pool has: each is an equal part of a GPU's time.")
  int licenses;

  @Option(
      names = "--gpus",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "How many GPUs the server has (default: ${DEFAULT-VALUE}). If there are several, a job"
              + " can have one licence, and gets the GPU with the fewest jobs.")
  int gpus;

  @Option(
      names = "--class",
      paramLabel = "CLASS",
      defaultValue = "guaranteed",
      description = "guaranteed, burstable or best-effort (default: ${DEFAULT-VALUE}).")
  String share;

  @Option(
      names = "--class-of",
      paramLabel = "PARTITION=CLASS",
      description = "The class of the jobs of a partition; may be given several times.")
  Map<String, String> shares = Map.of();

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      description = "The most device memory of a job for each of its licences.")
  MemorySize memory;

  @Option(
      names = "--client",
      paramLabel = "FOLDER",
      description =
          "The folder of the client on the nodes (default: that of this installation); \"\" if it"
              + " was installed by the package graft-client.")
  String client;

  @Option(
      names = "--slurm-conf",
      paramLabel = "FILE",
      defaultValue = "/etc/slurm/slurm.conf",
      description = "The cluster's slurm.conf (default: ${DEFAULT-VALUE}).")
  Path slurmConf;

  @Option(
      names = "--cron",
      paramLabel = "FILE",
      defaultValue = "/etc/cron.d/graft-slurm",
      description =
          "The file for cron that looks every minute for tokens of jobs that are gone (default:"
              + " ${DEFAULT-VALUE}); \"\" for none.")
  String cron;

  @Option(
      names = "--manual",
      description = "Leave Slurm's files as they are, and print what to add to them.")
  boolean manual;

  @Override
  public Integer call() {
    PoolFiles files = folder.files();
    if (files.isThere()) {
      throw new GraftException(
          folder.path + " has a pool already", "first run graft slurm uninstall");
    }
    for (String program : PROGRAMS) {
      if (!HostProgram.isThere(program, System.getenv())) {
        throw new GraftException(
            "there is no " + program + " in PATH", "run this on Slurm's controller");
      }
    }
    SlurmPool pool = pool();
    SlurmConf conf = SlurmConf.of(readable(slurmConf));
    Path gresFile = slurmConf.resolveSibling("gres.conf");
    SlurmConf gres = SlurmConf.of(PoolFiles.text(gresFile));
    Path luaFile = slurmConf.resolveSibling("job_submit.lua");
    List<String> lines = files.slurmConf(pool);
    String slurmUser = conf.value("SlurmUser", "root");
    UserPrincipal user = PoolFiles.user(slurmUser);
    if (!manual) {
      refuseConflicts(conf, lines, files, luaFile);
    }

    files.write(pool, user, System.getenv("PATH"));
    if (!manual) {
      if (!gres.hasBlock()) {
        PoolFiles.replace(gresFile, gres.with(PoolFiles.gresConf(pool)).text());
      }
      PoolFiles.replace(luaFile, files.jobSubmit());
      pool.cron().ifPresent(file -> PoolFiles.replace(Path.of(file), files.cron(slurmUser)));
      PoolFiles.replace(slurmConf, conf.with(lines).text()); // from now on jobs use the pool
    }
    report(pool, files, lines, gresFile, luaFile, slurmUser);
    return ExitCode.OK;
  }

  private SlurmPool pool() {
    Map<String, Share.Type> classes = new LinkedHashMap<>();
    shares.forEach((partition, text) -> classes.put(partition, type(text)));
    String there = client == null ? ClientFolder.existing().toString() : client;
    boolean hasCron =
        !cron.isEmpty() && Files.isDirectory(Path.of(cron).toAbsolutePath().getParent());
    return new SlurmPool(
        slurmConf.toAbsolutePath().normalize().toString(),
        server.url(),
        state.toAbsolutePath().normalize().toString(),
        Optional.of(there).filter(text -> !text.isEmpty()),
        licenses,
        gpus,
        type(share),
        classes,
        memory == null ? OptionalLong.empty() : OptionalLong.of(memory.bytes()),
        hasCron && !manual ? Optional.of(cron) : Optional.empty());
  }

  private static Share.Type type(String text) {
    for (Share.Type each : Share.Type.values()) {
      if (each != Share.Type.DENSE && each.toString().equals(text)) {
        return each;
      }
    }
    throw new GraftException(
        "'" + text + "' is no class", "it is guaranteed, burstable or best-effort");
  }

  private static String readable(Path file) {
    if (!Files.isReadable(file)) {
      throw new GraftException(
          "there is no " + file + " that this user can read",
          "run this as root on Slurm's controller, and name the file with --slurm-conf");
    }
    return PoolFiles.text(file);
  }

  private void refuseConflicts(SlurmConf conf, List<String> own, PoolFiles files, Path luaFile) {
    List<String> problems = new ArrayList<>();
    if (conf.hasBlock()) {
      problems.add("lines of another pool are there already");
    }
    List<String> keys =
        own.stream()
            .map(line -> line.substring(0, line.indexOf('=')))
            .filter(key -> !key.equals("NodeName"))
            .toList();
    problems.addAll(conf.setting(keys));
    String lua = PoolFiles.text(luaFile);
    if (!lua.isEmpty() && !lua.equals(files.jobSubmit())) {
      problems.add("there is a " + luaFile + " of this site's own");
    }
    if (!problems.isEmpty()) {
      throw new GraftException(
          slurmConf
              + " is used for other things, nothing was changed:\n  "
              + String.join("\n  ", problems),
          "give --manual, and add what it prints by hand");
    }
  }

  private void report(
      SlurmPool pool,
      PoolFiles files,
      List<String> lines,
      Path gresFile,
      Path luaFile,
      String slurmUser) {
    Map<String, Object> about = new LinkedHashMap<>();
    about.put("folder", folder.path.toString());
    about.put("server", pool.server());
    about.put("licenses", pool.licenses());
    about.put("manual", manual);
    OperatorAudit.write(output.err(), "slurm-installed", about);
    about.put("slurmConf", lines);
    about.put("gresConf", PoolFiles.gresConf(pool));
    output.result(about);
    output.say("the pool is in " + folder.path);
    if (manual) {
      output.say("add to " + slurmConf + ", before the lines of nodes:");
      lines.forEach(line -> output.say("  " + line));
      output.say("and to " + gresFile + ":");
      PoolFiles.gresConf(pool).forEach(line -> output.say("  " + line));
      output.say("and what " + luaFile + " needs, if it does other things too:");
      files.jobSubmit().lines().forEach(line -> output.say("  " + line));
    }
    output.say(
        "the server: graft serve --listen "
            + pool.server()
            + " --tokens "
            + pool.state()
            + "/tokens --accounting "
            + pool.state()
            + "/accounting.jsonl, as user "
            + slurmUser);
    output.say(
        "copy "
            + folder.path
            + " to the nodes, the key for root alone, and slurm.conf and gres.conf where the nodes"
            + " have their own");
    output.say(
        "then restart slurmctld and the nodes' slurmd: they read new GRES and licences then");
    if (pool.cron().isEmpty()) {
      output.say(
          "have "
              + folder.path
              + "/sweep run every minute as user "
              + slurmUser
              + ": no cron was told to");
    }
  }
}
