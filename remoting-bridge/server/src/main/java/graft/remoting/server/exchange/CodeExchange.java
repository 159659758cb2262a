package graft.remoting.server.exchange;

import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Libc;

/**
 * Code that the server keeps for the clients of a name, by the SHA-256 that the server itself has
 * computed: what one name has sent, no other can find.
 */
public interface CodeExchange {
  /** Bytes of a hash. */
  int HASH = 32;

  /** The most that is kept for a name. */
  int MOST = 256;

  /** The seals of a file of code: nobody changes it any more. */
  int SEALS = Libc.F_SEAL_SHRINK | Libc.F_SEAL_GROW | Libc.F_SEAL_WRITE;

  /** For sessions that keep nothing. */
  CodeExchange NONE =
      new CodeExchange() {
        @Override
        public Bytes known() {
          return Bytes.NONE;
        }

        @Override
        public boolean keep(Bytes hash, int fd) {
          return false;
        }

        @Override
        public int code(Bytes hash) {
          return -1;
        }
      };

  /** The hashes of what is kept, one behind the other; it stays as long as the session lives. */
  Bytes known();

  /**
   * Keeps a file of code.
   *
   * @return false if there is no place for it
   */
  boolean keep(Bytes hash, int fd);

  /** The finder's own descriptor of the code of that hash, -1 if there is none. */
  int code(Bytes hash);
}
