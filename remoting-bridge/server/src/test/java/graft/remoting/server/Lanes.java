package graft.remoting.server;

/**
 * The lock of classes that run beside the others, one of them at a time. JUnit runs the tests of a
 * class that has a lock one after the other, since they share a server.
 */
final class Lanes {
  /** Classes that wait for processes, and that count nothing of the host or of this process. */
  static final String PROCESSES = "processes";

  private Lanes() {}
}
