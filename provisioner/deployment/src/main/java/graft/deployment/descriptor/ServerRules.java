package graft.deployment.descriptor;

import graft.common.bind.Position;
import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.common.values.MemorySize;
import graft.deployment.descriptor.gpu.AuditTarget;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.Limits;
import graft.deployment.descriptor.gpu.Owner;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Rules for what the server of a GPU may use. */
final class ServerRules {
  /** What {@code graft serve} accepts at least: the buffers of one context's copies. */
  private static final MemorySize LEAST_HOST_MEMORY = MemorySize.ofMib(64);

  /** Where each port of a machine was written first. */
  private final Map<List<Object>, Position> ports = new HashMap<>();

  private final Positions positions;
  private final Problems problems;

  ServerRules(Positions positions, Problems problems) {
    this.positions = positions;
    this.problems = problems;
  }

  void check(Gpu gpu) {
    if (gpu.server() == null || gpu.server().limits() == null) {
      return; // it has a problem already
    }
    port(gpu);
    Limits limits = gpu.server().limits();
    if (gpu.owner() != null && gpu.owner().kind() == Owner.Kind.NODE) {
      node(gpu);
    }
    leastHostMemory(limits, "host-memory", limits.hostMemory());
    leastHostMemory(limits, "guest-host-memory", limits.guestHostMemory());
    notMore(
        limits, "host-memory", limits.hostMemory(), "guest-host-memory", limits.guestHostMemory());
    notMore(limits, "guest-sessions", limits.guestSessions(), "sessions", limits.sessions());
  }

  private void port(Gpu gpu) {
    if (gpu.owner() == null || gpu.server().port() == null || gpu.server().port().isEmpty()) {
      return;
    }
    int port = gpu.server().port().get();
    Position at = positions.of(gpu.server(), "port");
    Position first = ports.putIfAbsent(List.of(gpu.owner(), port), at);
    if (first != null) {
      problems.add(
          at,
          "two servers of one machine listen at port " + port,
          "the first is at " + first + "; choose another, or leave 'port' out");
    }
  }

  private void node(Gpu gpu) {
    if (!gpu.server().limits().isEmpty()) {
      problems.add(
          positions.of(gpu.server(), "limits"),
          "the server of the node '" + gpu.owner().name() + "' has its own limits",
          "give its graft serve options such as --max-sessions, and remove the key here");
    }
    if (has(gpu.server().watchdog())) {
      problems.add(
          positions.of(gpu.server(), "watchdog"),
          "the server of the node '" + gpu.owner().name() + "' has its own watchdog",
          "give its graft serve the option --watchdog, and remove the key here");
    }
    if (gpu.server().audit() != AuditTarget.AUTO) {
      problems.add(
          positions.of(gpu.server(), "audit"),
          "the server of the node '" + gpu.owner().name() + "' has its own audit trail",
          "give its graft serve the option --audit, and remove the key here");
    }
    if (!gpu.server().sensors()) {
      problems.add(
          positions.of(gpu.server(), "sensors"),
          "the node '" + gpu.owner().name() + "' itself says who sees the sensors of its GPU",
          "give its graft serve the option --sensors off, and remove the key here");
    }
    own(gpu, "spare-context", !gpu.server().spareContext(), "whether spare workers have contexts");
    own(
        gpu,
        "profiler-library",
        has(gpu.server().profilerLibrary()),
        "which profiling library it has");
    own(gpu, "metrics", !gpu.server().metrics(), "whether it serves metrics");
    own(gpu, "session-log", !gpu.server().sessionLog(), "whether its log shows sessions");
    own(gpu, "accounting", gpu.server().accounting(), "whether it writes accounts");
  }

  private void own(Gpu gpu, String key, boolean isGiven, String what) {
    if (isGiven) {
      problems.add(
          positions.of(gpu.server(), key),
          "the node '" + gpu.owner().name() + "' itself says " + what,
          "use the option --" + key + " of its graft serve, and remove the key here");
    }
  }

  /** Whether there is a value; null stands for one that has a problem already. */
  private static boolean has(Optional<?> value) {
    return value != null && value.isPresent();
  }

  private void leastHostMemory(Limits limits, String key, Optional<MemorySize> given) {
    if (given != null && given.filter(m -> m.compareTo(LEAST_HOST_MEMORY) < 0).isPresent()) {
      problems.add(
          positions.of(limits, key),
          "a session needs " + LEAST_HOST_MEMORY + " of memory for its copies",
          "write " + LEAST_HOST_MEMORY + " or more");
    }
  }

  /** A part has no larger limit than the whole. */
  private <T extends Comparable<T>> void notMore(
      Limits limits, String key, Optional<T> part, String of, Optional<T> whole) {
    if (part != null
        && whole != null
        && part.isPresent()
        && whole.isPresent()
        && part.get().compareTo(whole.get()) > 0) {
      problems.add(
          positions.of(limits, key),
          "'" + key + "' is " + part.get() + ", more than '" + of + "': " + whole.get(),
          "write " + whole.get() + " or less");
    }
  }
}
