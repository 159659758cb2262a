package graft.hypervisors.libvirt.calls;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.libvirt.jna.Libvirt;
import org.libvirt.jna.LibvirtQemu;

/** libvirt's shared libraries, which are loaded at the first connection. */
public final class LibvirtLibrary {

  private static final String NAME = "virt";
  private static final String NAME_OF_QEMU = "virt-qemu";

  private LibvirtLibrary() {}

  /** The binding of libvirt-java. */
  public static Libvirt calls() {
    return Loaded.CALLS;
  }

  /** The functions that libvirt-java does not bind. */
  public static LibvirtExtras extras() {
    return Loaded.EXTRAS;
  }

  /**
   * The functions of the QEMU driver, which are in a separate library that is loaded when an agent
   * is first used.
   *
   * @throws HostUnreachableException if that library is not installed
   */
  public static LibvirtQemu qemu(String target) {
    try {
      return LoadedQemu.CALLS;
    } catch (LinkageError e) {
      throw missing("ask the agent of", target, e);
    }
  }

  /**
   * Loads libvirt's library and disables its error output.
   *
   * @throws HostUnreachableException if the library is not installed
   */
  public static void load(LibvirtUri uri) {
    try {
      Loaded.EXTRAS.virGetLastErrorCode();
    } catch (LinkageError e) {
      throw missing("open", uri.toString(), e);
    }
  }

  /**
   * Begins to load libvirt's library in the background, and to bind its functions, for a command
   * that will connect soon. An error is left for {@link #load} or {@link #qemu}, which meets it
   * again and reports it.
   *
   * @param agents whether the command will ask guests' agents as well
   */
  public static void loadAhead(boolean agents) {
    Thread loading =
        new Thread(
            () -> {
              try {
                NativeLibrary.getInstance(NAME); // first, since a class initializes only once
                Loaded.EXTRAS.virGetLastErrorCode();
                if (agents) {
                  NativeLibrary.getInstance(NAME_OF_QEMU);
                  Objects.requireNonNull(LoadedQemu.CALLS);
                }
              } catch (LinkageError e) {
                // load() and qemu() say so, if the command needs the library at all
              }
            },
            "libvirt's library");
    loading.setDaemon(true);
    loading.start();
  }

  private static HostUnreachableException missing(String action, String target, LinkageError e) {
    Throwable root = e;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return new HostUnreachableException(
        new HypervisorException.Failure(
            action,
            target,
            "libvirt's client library cannot be loaded (" + firstLine(root.getMessage()) + ")",
            "install it: apt-get install libvirt0 (libvirt.so.0, libvirt-qemu.so.0)",
            Optional.empty()),
        e);
  }

  /** The lines that follow list every path where JNA looked. */
  private static String firstLine(String text) {
    return text == null
        ? "no reason given"
        : text.lines().findFirst().orElse("").replaceFirst(":$", "");
  }

  private static final class Loaded {
    static final Libvirt CALLS = Libvirt.INSTANCE;
    static final LibvirtExtras EXTRAS =
        Native.load(
            NAME, LibvirtExtras.class, Map.of(com.sun.jna.Library.OPTION_STRING_ENCODING, "UTF-8"));

    static {
      if (CALLS.virInitialize() < 0) {
        throw new IllegalStateException("libvirt does not initialize");
      }
      // libvirt prints every error to stderr unless a handler is set. virResetError serves as the
      // handler: its first argument is null, so that it does nothing. A callback into Java would be
      // slow to set up, and unsafe while the JVM shuts down.
      Pointer quiet = NativeLibrary.getInstance(NAME).getFunction("virResetError");
      EXTRAS.virSetErrorFunc(null, quiet);
    }
  }

  private static final class LoadedQemu {
    static final LibvirtQemu CALLS = LibvirtQemu.INSTANCE;
  }
}
