package graft.remoting.server.exchange;

import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Libc;

/**
 * Code that the server keeps for the clients of a name, found by the SHA-256 that the server itself
 * has computed. Code that one name has sent is not found under another.
 */
public interface CodeExchange {
  /** The bytes of a hash. */
  int HASH = 32;

  /** The largest number of images that are kept for a name. */
  int MOST = 256;

  /** The seals of a file of code, which prevent every change. */
  int SEALS = Libc.F_SEAL_SHRINK | Libc.F_SEAL_GROW | Libc.F_SEAL_WRITE;

  /** Keeps nothing. */
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

  /**
   * Returns the concatenated hashes of the code that is kept. The code stays for as long as the
   * session lives.
   */
  Bytes known();

  /**
   * Keeps a file of code.
   *
   * @return false if there is no room for it
   */
  boolean keep(Bytes hash, int fd);

  /**
   * Returns a descriptor of the code with that hash, which belongs to the caller, -1 if there is
   * none.
   */
  int code(Bytes hash);
}
