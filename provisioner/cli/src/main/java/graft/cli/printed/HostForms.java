package graft.cli.printed;

import graft.common.bind.Doc;
import java.util.List;
import java.util.Map;

/** What the commands print that concern this host and its servers. */
public final class HostForms {
  private HostForms() {}

  /** {@code graft doctor}. */
  public record Diagnosis(
      @Doc("Whether there is no problem.") boolean ok, List<Finding> findings) {}

  /** Something that doctor looked at. */
  public record Finding(
      @Doc("ok, warning or problem.") String level,
      String subject,
      String found,
      @Doc("May be empty.") String fix,
      @Doc("What graft doctor --fix runs.") List<List<String>> commands) {}

  /** {@code graft inspect}. */
  public record Inspected(
      int cpus,
      @Doc("Bytes.") long memory,
      @Doc("Bytes.") long availableMemory,
      @Doc("Empty if there is none.") String nvidiaDriver,
      Map<String, Object> cuda,
      List<String> devices,
      @Doc("The RDMA devices.") List<String> rdma,
      List<String> findings,
      @Doc("A descriptor for this host.") String descriptor) {}

  /** {@code graft cdi}. */
  public record Device(
      @Doc("graft.dev/vgpu=NAME.") String device, @Doc("Empty without --out.") String file) {}

  /** {@code graft sessions}. */
  public record Sessions(
      @Doc("The answer of each server, or its error.") List<Map<String, Object>> servers) {}

  /** One look of {@code graft top}. */
  public record Top(String at, List<Map<String, Object>> servers) {}

  /** {@code graft kill}. */
  public record Ended(String server, @Doc("The session.") Map<String, Object> ended) {}

  /** {@code graft logs}. */
  public record Logs(List<Log> logs) {}

  /** The log of one server. */
  public record Log(String server, @Doc("Where it is.") String log, List<String> lines) {}
}
