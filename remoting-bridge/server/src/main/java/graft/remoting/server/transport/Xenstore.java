package graft.remoting.server.transport;

import com.sun.jna.Native;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * What this host knows of its guests, read with Xen's own library. A domain's number changes with
 * each start of the guest; its name does not.
 */
final class Xenstore implements AutoCloseable {
  private static final String DOMAINS = "/local/domain";

  /** The longest value in xenstore (xen/io/xs_wire.h). */
  private static final int LONGEST = 4096;

  private final Entries entries;

  Xenstore(Entries entries) {
    this.entries = entries;
  }

  /** The tree of entries. */
  interface Entries extends AutoCloseable {
    /** Returns the names below a path. */
    List<String> list(String path) throws IOException;

    /** Returns the value at a path, null if there is none. */
    String read(String path) throws IOException;

    @Override
    void close();
  }

  /** Returns the number of the running domain of that name. */
  int domain(String name) throws IOException {
    for (String number : entries.list(DOMAINS)) {
      if (name.equals(entries.read(DOMAINS + "/" + number + "/name"))) {
        return Integer.parseInt(number);
      }
    }
    throw new IOException("no domain of this host is named " + name);
  }

  /** Returns the number of the domain that this process runs in. */
  int self() throws IOException {
    String number = entries.read("domid");
    return number == null ? 0 : Integer.parseInt(number);
  }

  /** Opens the host's xenstore. */
  static Xenstore ofHost() throws IOException {
    return new Xenstore(new Host());
  }

  @Override
  public void close() {
    entries.close();
  }

  /**
   * Accesses xenstore by {@code libxenstore} (xenstore.h). Bound by JNA direct mapping; pointers
   * are addresses.
   */
  private static final class Host implements Entries {
    private static final class Library {
      static {
        Native.register(Library.class, "xenstore");
      }

      static native long xs_open(long flags);

      static native void xs_close(long connection);

      static native long xs_directory(long connection, int transaction, String path, long count);

      static native long xs_read(long connection, int transaction, String path, long length);
    }

    private final long connection;

    Host() throws IOException {
      try {
        connection = Library.xs_open(0);
      } catch (LinkageError e) {
        throw new IOException("vchan needs Xen's library libxenstore (Debian: libxenstore4)", e);
      }
      if (connection == 0) {
        throw Libc.failure("open xenstore (allowed for root in dom0)");
      }
    }

    @Override
    public List<String> list(String path) throws IOException {
      try (Scratch count = new Scratch(4)) {
        long names = Library.xs_directory(connection, 0, path, count.address());
        check(names, path);
        List<String> found = new ArrayList<>();
        for (int i = 0; names != 0 && i < Memory.getInt(count.address()); i++) {
          found.add(Memory.string(Memory.getLong(names + 8L * i), LONGEST));
        }
        Native.free(names);
        return found;
      }
    }

    @Override
    public String read(String path) throws IOException {
      try (Scratch length = new Scratch(4)) {
        long text = Library.xs_read(connection, 0, path, length.address());
        check(text, path);
        String found = text == 0 ? null : Memory.string(text, LONGEST);
        Native.free(text);
        return found;
      }
    }

    @Override
    public void close() {
      Library.xs_close(connection);
    }

    private static void check(long found, String path) throws IOException {
      if (found == 0 && Native.getLastError() != Libc.ENOENT) {
        throw Libc.failure("read " + path + " in xenstore");
      }
    }
  }
}
