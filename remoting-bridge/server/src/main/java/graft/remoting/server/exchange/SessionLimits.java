package graft.remoting.server.exchange;

/**
 * The limits of a session. 0 stands for no limit.
 *
 * @param memory the device memory of the session, in bytes
 * @param hostMemory the memory of the host that the session makes its worker hold, in bytes
 * @param guestMemory the device memory of all sessions of the guest together, in bytes
 * @param guestHostMemory the host memory of all sessions of the guest together, in bytes
 * @param idleSeconds the time without calls and without work on the device after which the session
 *     ends, in seconds
 */
public record SessionLimits(
    long memory, long hostMemory, long guestMemory, long guestHostMemory, long idleSeconds) {
  /** No limit at all. */
  public static final SessionLimits NONE = new SessionLimits(0, 0, 0, 0, 0);

  /** Checks that no limit is negative. */
  public SessionLimits {
    if (memory < 0 || hostMemory < 0 || guestMemory < 0 || guestHostMemory < 0 || idleSeconds < 0) {
      throw new IllegalArgumentException("a limit must not be negative");
    }
  }

  /** Returns limits with another limit of the session's device memory, in bytes. */
  public SessionLimits withMemory(long bytes) {
    return new SessionLimits(bytes, hostMemory, guestMemory, guestHostMemory, idleSeconds);
  }

  /** Returns limits with another limit of the guest's device memory, in bytes. */
  public SessionLimits withGuestMemory(long bytes) {
    return new SessionLimits(memory, hostMemory, bytes, guestHostMemory, idleSeconds);
  }

  /** Returns limits with another limit of the session's host memory, in bytes. */
  public SessionLimits withHostMemory(long bytes) {
    return new SessionLimits(memory, bytes, guestMemory, guestHostMemory, idleSeconds);
  }
}
