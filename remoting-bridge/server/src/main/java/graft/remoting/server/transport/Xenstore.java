package graft.remoting.server.transport;

import com.sun.jna.Native;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * What this host knows of its guests, by Xen's own library, which is where the toolstack is. A
 * domain's number changes with each start of a guest; its name does not.
 */
final class Xenstore implements AutoCloseable {
  private static final String DOMAINS = "/local/domain";

  /** Bytes of a text in xenstore (xen/io/xs_wire.h). */
  private static final int LONGEST = 4096;

  private final Entries entries;

  Xenstore(Entries entries) {
    this.entries = entries;
  }

  /** The tree of paths. */
  interface Entries extends AutoCloseable {
    /** The names below a path. */
    List<String> list(String path) throws IOException;

    /** What stands at a path, null if nothing does. */
    String read(String path) throws IOException;

    @Override
    void close();
  }

  /** The number of the running domain of that name. */
  int domain(String name) throws IOException {
    for (String number : entries.list(DOMAINS)) {
      if (name.equals(entries.read(DOMAINS + "/" + number + "/name"))) {
        return Integer.parseInt(number);
      }
    }
    throw new IOException("no domain of this host is named " + name);
  }

  /** The number of the domain that this is. */
  int self() throws IOException {
    String number = entries.read("domid");
    return number == null ? 0 : Integer.parseInt(number);
  }

  /** The host's, by one connection until it is closed. */
  static Xenstore ofHost() throws IOException {
    return new Xenstore(new Host());
  }

  @Override
  public void close() {
    entries.close();
  }

  /** By {@code libxenstore} (xenstore.h). Bound directly by JNA; pointers are addresses. */
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
        throw Libc.failure("open xenstore, as root of dom0 may");
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
