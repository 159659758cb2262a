package graft.cli.printed;

import graft.common.bind.Doc;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What the commands print of a deployment over many hosts. */
public final class HostsForms {
  private HostsForms() {}

  /** What one host answered. */
  public record Answer(
      String host,
      @Doc("done, failed, unreachable or not-begun.") String outcome,
      @Doc("The exit code of the host's own Graft; 4 if the host did not let it in.") int exitCode,
      @Doc("null if there was none.") Optional<String> error,
      @Doc("How far its clock is from the operator's.") double clockSeconds,
      @Doc("What the same command prints of a deployment on one host.")
          Map<String, Object> answer) {}

  /** {@code graft plan}. */
  public record Planned(
      String deployment,
      List<Answer> hosts,
      @Doc("Of all hosts.") int steps,
      @Doc("Hosts that are not in the descriptor any more.") List<String> departed,
      @Doc("What an operator should know, each a sentence.") List<String> warnings) {}

  /** {@code graft apply}. */
  public record Applied(String deployment, List<Answer> hosts, double seconds) {}

  /** {@code graft undo} and {@code destroy}. */
  public record Undone(String deployment, List<Answer> hosts) {}

  /** {@code graft status}. */
  public record State(
      @Doc("The time of this look; with --watch alone.") Optional<String> at,
      String deployment,
      List<Answer> hosts,
      @Doc("Whether nothing differs on any host.") boolean inSync) {}
}
