package graft.remoting.server.exchange;

import graft.remoting.server.system.Bytes;

/**
 * Where sessions leave handles for each other. A handle is found by a token that its giver has made
 * up, and by sessions of the same name alone: nobody opens what another client did not give.
 */
public interface HandleExchange {
  /** For sessions that share nothing. */
  HandleExchange NONE =
      new HandleExchange() {
        @Override
        public boolean give(Bytes token, SharedHandle handle, int fd) {
          return false;
        }

        @Override
        public Found find(Bytes token) {
          return null;
        }
      };

  /**
   * What was found.
   *
   * @param fd the finder's own descriptor of the memory or the event, -1 without one
   */
  record Found(SharedHandle handle, int fd) {}

  /**
   * Leaves a handle, and a copy of a descriptor unless it is -1, until the session ends.
   *
   * @return false if there is no place for more
   */
  boolean give(Bytes token, SharedHandle handle, int fd);

  /** The handle of a token, or null. */
  Found find(Bytes token);
}
