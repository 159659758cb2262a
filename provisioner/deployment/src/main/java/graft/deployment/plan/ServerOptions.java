package graft.deployment.plan;

import graft.common.audit.AuditLog;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.Limits;
import graft.deployment.step.host.StartServer;
import graft.guests.bundle.ServerViews;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The options of {@code graft serve} for what an operator may limit or turn off at a server. */
final class ServerOptions {
  private ServerOptions() {}

  /**
   * The options for the limits, the watchdog, the audit trail, contexts of spare workers, the
   * profiling library, the sensors and the views of a GPU's server; none for what has its default.
   *
   * @param audit the file of the audit trail, for a server whose audit events go to a file; the
   *     accounts of sessions are beside it
   */
  static List<String> of(Gpu gpu, Path audit) {
    List<String> options = new ArrayList<>();
    Limits limits = gpu.server().limits();
    add(options, "--max-sessions", limits.sessions());
    add(options, "--max-guest-sessions", limits.guestSessions());
    add(options, "--guest-memory", limits.guestMemory());
    add(options, "--host-memory", limits.hostMemory());
    add(options, "--guest-host-memory", limits.guestHostMemory());
    add(options, "--idle-timeout", limits.idleTimeout());
    add(options, "--queue-timeout", limits.queueTimeout());
    add(options, "--kept-data", limits.keptData());
    add(options, "--watchdog", gpu.server().watchdog());
    add(
        options,
        "--audit",
        switch (gpu.server().audit()) {
          case AUTO -> Optional.empty();
          case FILE -> Optional.of(audit);
          case SYSLOG -> Optional.of(AuditLog.SYSLOG);
          case OFF -> Optional.of(AuditLog.OFF);
        });
    add(
        options,
        "--spare-context",
        gpu.server().spareContext() ? Optional.empty() : Optional.of("off"));
    add(options, StartServer.PROFILER_LIBRARY, gpu.server().profilerLibrary());
    add(options, "--sensors", gpu.server().sensors() ? Optional.empty() : Optional.of("off"));
    add(
        options,
        "--accounting",
        gpu.server().accounting()
            ? Optional.of(audit.resolveSibling("accounting.jsonl"))
            : Optional.empty());
    options.addAll(ServerViews.without(gpu.server().metrics(), gpu.server().sessionLog()));
    return options;
  }

  private static void add(List<String> options, String option, Optional<?> value) {
    value.ifPresent(given -> options.addAll(List.of(option, given.toString())));
  }
}
