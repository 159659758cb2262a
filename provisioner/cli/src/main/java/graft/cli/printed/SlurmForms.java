package graft.cli.printed;

import graft.common.bind.Doc;
import java.util.List;

/** What {@code graft slurm} prints. */
public final class SlurmForms {
  private SlurmForms() {}

  /** {@code graft slurm install}. */
  public record Installed(
      @Doc("Where the pool's scripts are.") String folder,
      String server,
      int licenses,
      @Doc("Whether Slurm's configuration was left to the administrator.") boolean manual,
      @Doc("The lines of slurm.conf.") List<String> slurmConf,
      @Doc("The lines of gres.conf.") List<String> gresConf) {}

  /** {@code graft slurm status}. */
  public record Pool(
      String folder,
      String server,
      int licenses,
      List<Job> jobs,
      @Doc("What is not as it was installed.") List<String> differences) {}

  /** A job with a token. */
  public record Job(
      String job,
      @Doc("Those of the token's line, as graft serve has them.") String settings,
      @Doc("The time, as in ISO 8601.") String expires,
      boolean expired) {}

  /** {@code graft slurm uninstall}. */
  public record Removed(@Doc("Whether there was a pool.") boolean removed) {}
}
