package graft.remoting.device;

/**
 * Is asked before a device begins a piece of work (a kernel, a copy, a fill), and told when the
 * work has ended. Both are called on the thread that does the work; pieces of work may overlap.
 */
public interface WorkGate {
  /** Waits until the work may begin. */
  void begin();

  /** Notes that the work has ended. */
  void end();

  /** A gate that is always open. */
  WorkGate OPEN =
      new WorkGate() {
        @Override
        public void begin() {}

        @Override
        public void end() {}
      };
}
