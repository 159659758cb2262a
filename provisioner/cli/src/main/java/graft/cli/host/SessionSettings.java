package graft.cli.host;

import graft.common.values.MemorySize;
import graft.common.values.TimeSpan;
import graft.remoting.server.exchange.SessionLimits;
import picocli.CommandLine.Option;

/** The options of {@code graft serve} that limit sessions and guests. */
final class SessionSettings {
  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      description = "The device memory limit of sessions whose token names none.")
  MemorySize memory;

  @Option(
      names = "--guest-memory",
      paramLabel = "SIZE",
      description = "The device memory limit of all sessions of a guest together (default: none).")
  MemorySize guestMemory;

  @Option(
      names = "--host-memory",
      paramLabel = "SIZE",
      description =
          "The memory of this machine that a session may make the server hold for copies, code,"
              + " graphs and waits (default: a quarter of it; at least 64MiB).")
  MemorySize hostMemory;

  @Option(
      names = "--guest-host-memory",
      paramLabel = "SIZE",
      description = "The same for all sessions of a guest together (default: half of it).")
  MemorySize guestHostMemory;

  @Option(
      names = "--idle-timeout",
      paramLabel = "TIME",
      description =
          "End a session whose program has made no call for this time, such as 30m, and has no work"
              + " on the device then (default: never).")
  TimeSpan idle;

  /** Returns the limits, with those of {@code defaults} where no option was given. */
  SessionLimits limits(SessionLimits defaults) {
    return new SessionLimits(
        bytes(memory, defaults.memory()),
        bytes(hostMemory, defaults.hostMemory()),
        bytes(guestMemory, defaults.guestMemory()),
        bytes(guestHostMemory, defaults.guestHostMemory()),
        idle == null ? defaults.idleSeconds() : idle.seconds());
  }

  private static long bytes(MemorySize size, long otherwise) {
    return size == null ? otherwise : size.bytes();
  }
}
