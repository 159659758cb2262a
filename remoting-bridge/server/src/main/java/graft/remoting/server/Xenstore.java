package graft.remoting.server;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLong;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * What this host knows of its guests, by Xen's own library, which is where the toolstack is. A
 * domain's number changes with each start of a guest; its name does not.
 */
final class Xenstore {
  private static final String DOMAINS = "/local/domain";

  private final Entries entries;

  Xenstore(Entries entries) {
    this.entries = entries;
  }

  /** The tree of paths. */
  interface Entries {
    /** The names below a path. */
    List<String> list(String path) throws IOException;

    /** What stands at a path, null if nothing does. */
    String read(String path) throws IOException;
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

  /** The host's. */
  static Xenstore ofHost() {
    return new Xenstore(new Host());
  }

  /** By {@code libxenstore} (xenstore.h). */
  private static final class Host implements Entries {
    private interface Functions extends Library {
      Pointer xs_open(NativeLong flags);

      void xs_close(Pointer connection);

      Pointer xs_directory(Pointer connection, int transaction, String path, IntByReference count);

      Pointer xs_read(Pointer connection, int transaction, String path, IntByReference length);
    }

    private interface Question<T> {
      T ask(Functions functions, Pointer connection);
    }

    @Override
    public List<String> list(String path) throws IOException {
      return ask(
          path,
          (functions, connection) -> {
            IntByReference count = new IntByReference();
            Pointer names = functions.xs_directory(connection, 0, path, count);
            List<String> found = new ArrayList<>();
            for (int i = 0; names != null && i < count.getValue(); i++) {
              found.add(names.getPointer((long) i * Native.POINTER_SIZE).getString(0));
            }
            free(names);
            return found;
          });
    }

    @Override
    public String read(String path) throws IOException {
      return ask(
          path,
          (functions, connection) -> {
            IntByReference length = new IntByReference();
            Pointer text = functions.xs_read(connection, 0, path, length);
            String found =
                text == null
                    ? null
                    : new String(text.getByteArray(0, length.getValue()), StandardCharsets.UTF_8);
            free(text);
            return found;
          });
    }

    private static void free(Pointer memory) {
      if (memory != null) {
        Native.free(Pointer.nativeValue(memory));
      }
    }

    private static <T> T ask(String path, Question<T> question) throws IOException {
      Functions functions;
      try {
        functions = Native.load("xenstore", Functions.class);
      } catch (UnsatisfiedLinkError e) {
        throw new IOException("vchan needs Xen's library libxenstore (Debian: libxenstore4)", e);
      }
      Pointer connection = functions.xs_open(new NativeLong(0));
      if (connection == null) {
        throw Libc.failure("open xenstore to read " + path);
      }
      try {
        return question.ask(functions, connection);
      } finally {
        functions.xs_close(connection);
      }
    }
  }
}
