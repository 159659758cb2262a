package graft.remoting.server.exchange;

import graft.remoting.server.system.Bytes;

/**
 * Passes handles between the sessions of one name. A handle is found by a random token that its
 * exporting session has chosen, and only by sessions of the same name, so that no client can open
 * what another client has not exported.
 */
public interface HandleExchange {
  /** Shares nothing. */
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
   * A handle that was found.
   *
   * @param fd a descriptor of the memory or event that belongs to the caller, -1 if there is none
   */
  record Found(SharedHandle handle, int fd) {}

  /**
   * Exports a handle, and a copy of a descriptor unless it is -1, until the session ends.
   *
   * @return false if there is no room for more
   */
  boolean give(Bytes token, SharedHandle handle, int fd);

  /** Returns the handle of a token, or null. */
  Found find(Bytes token);
}
