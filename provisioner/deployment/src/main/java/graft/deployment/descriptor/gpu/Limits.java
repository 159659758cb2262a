package graft.deployment.descriptor.gpu;

import graft.common.bind.Doc;
import graft.common.bind.Range;
import graft.common.values.MemorySize;
import graft.common.values.TimeSpan;
import java.util.Optional;

/** What the sessions of a server may use. */
@Doc("What the sessions of a server may use.")
public record Limits(
    @Range(min = 1, max = 4096) @Doc("The most sessions at one time; 64 if absent.")
        Optional<Integer> sessions,
    @Range(min = 1, max = 4096)
        @Doc(
            "The most sessions of one guest at one time. If absent, all but those that are kept for"
                + " guests without a session.")
        Optional<Integer> guestSessions,
    @Doc("The GPU memory of all sessions of one guest together; unlimited if absent.")
        Optional<MemorySize> guestMemory,
    @Doc(
            "The memory of the server's machine that one session may use, at least 64MiB; a quarter"
                + " of the machine's if absent.")
        Optional<MemorySize> hostMemory,
    @Doc("The same for all sessions of one guest together; half of the machine's if absent.")
        Optional<MemorySize> guestHostMemory,
    @Doc(
            "The time after which a session ends that has made no call and has no work on the GPU;"
                + " never if absent.")
        Optional<TimeSpan> idleTimeout,
    @Doc(
            "How long a client may wait for a place while the server or its guest has all its"
                + " sessions; if absent, such a client is refused at once.")
        Optional<TimeSpan> queueTimeout,
    @Doc(
            "The memory of the server's machine in which it keeps data that guests far away have"
                + " copied to the GPU, so that their next programs need not send it again; one"
                + " guest has half of it at most, and 0 keeps nothing. If absent, 1GiB, or an eighth"
                + " of the machine's memory if that is less.")
        Optional<MemorySize> keptData) {
  /** No limits. */
  public static final Limits NONE =
      new Limits(
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty());

  /** Whether no limit is set. */
  public boolean isEmpty() {
    return equals(NONE);
  }
}
