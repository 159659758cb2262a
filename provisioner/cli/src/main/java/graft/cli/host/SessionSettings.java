package graft.cli.host;

import graft.common.values.MemorySize;
import graft.common.values.TimeSpan;
import graft.remoting.server.ServerConfig;
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
      names = "--kept-data",
      paramLabel = "SIZE",
      description =
          "The memory of this machine in which the server keeps data that guests far away have"
              + " copied to a GPU, so that their next programs need not send it again; a guest has"
              + " half of it at most (default: 1GiB, or an eighth of this machine's memory if that is less).")
  MemorySize keptData;

  @Option(
      names = "--idle-timeout",
      paramLabel = "TIME",
      description =
          "End a session whose program has made no call for this time, such as 30m, and has no work"
              + " on the device then (default: never).")
  TimeSpan idle;

  @Option(
      names = "--queue-timeout",
      paramLabel = "TIME",
      description =
          "Let a client wait for this time, such as 10m, while the server or its guest has all its"
              + " sessions (default: such a client is refused at once).")
  TimeSpan queueTimeout;

  @Option(
      names = "--watchdog",
      paramLabel = "TIME",
      description =
          "End a session whose work goes on for this time, such as 30s, after its turn while other"
              + " guests use the GPU or wait for it (default: never, since a kernel may run for"
              + " long). Guests take turns only while one of them has a class, compute or priority"
              + " in the tokens file.")
  TimeSpan watchdog;

  /** Returns the limits, with those of {@code defaults} where no option was given. */
  SessionLimits limits(SessionLimits defaults) {
    return new SessionLimits(
        bytes(memory, defaults.memory()),
        bytes(hostMemory, defaults.hostMemory()),
        bytes(guestMemory, defaults.guestMemory()),
        bytes(guestHostMemory, defaults.guestHostMemory()),
        idle == null ? defaults.idleSeconds() : idle.seconds());
  }

  /**
   * Sets how long clients may wait, how long work may go on and how much data is kept, where the
   * options say so.
   */
  void setRest(ServerConfig.Builder config) {
    if (keptData != null) {
      config.keptData(keptData.bytes());
    }
    if (queueTimeout != null) {
      config.queueTimeout(queueTimeout.toDuration());
    }
    if (watchdog != null) {
      config.watchdog(watchdog.toDuration());
    }
  }

  private static long bytes(MemorySize size, long otherwise) {
    return size == null ? otherwise : size.bytes();
  }
}
