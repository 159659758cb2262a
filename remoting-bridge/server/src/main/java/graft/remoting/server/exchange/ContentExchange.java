package graft.remoting.server.exchange;

import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Libc;

/**
 * Contents of one kind that the server keeps for the clients of a name, so that they need not be
 * sent again. A content is found by the SHA-256 that the server's side itself has computed. What
 * one name has sent is not found under another.
 */
public interface ContentExchange {
  /** The bytes of a hash. */
  int HASH = 32;

  /** The seals of a content's file, which prevent every change. */
  int SEALS = Libc.F_SEAL_SHRINK | Libc.F_SEAL_GROW | Libc.F_SEAL_WRITE;

  /** What is kept; each kind has limits of its own. */
  enum Kind {
    /** Code that was loaded. */
    CODE(0, 256),

    /** Data that was copied to a device. */
    DATA(1, 480);

    private final int number;
    private final int most;

    Kind(int number, int most) {
      this.number = number;
      this.most = most;
    }

    /** Returns the number of the kind in messages. */
    public int number() {
      return number;
    }

    /** Returns the largest number of contents that are kept for a name. */
    public int most() {
      return most;
    }
  }

  /** Keeps nothing. */
  ContentExchange NONE =
      new ContentExchange() {
        @Override
        public Bytes known() {
          return Bytes.NONE;
        }

        @Override
        public boolean keep(Bytes hash, int fd) {
          return false;
        }

        @Override
        public int find(Bytes hash) {
          return -1;
        }
      };

  /**
   * Returns the concatenated hashes of the contents that are kept. These stay for as long as the
   * session lives.
   */
  Bytes known();

  /**
   * Keeps a file.
   *
   * @return false if there is no room for it
   */
  boolean keep(Bytes hash, int fd);

  /**
   * Returns a descriptor of the content with that hash, which belongs to the caller, -1 if there is
   * none.
   */
  int find(Bytes hash);
}
