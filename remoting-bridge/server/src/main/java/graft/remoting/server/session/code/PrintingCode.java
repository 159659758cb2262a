package graft.remoting.server.session.code;

import graft.remoting.server.system.Scratch;
import graft.remoting.software.DeviceCode;

/**
 * Whether a session's kernels may call printf. The driver prints only in a call that waits, so that
 * a wait which finds its stream idle must still call the driver. For code that does not print, that
 * call would waste a microsecond or two.
 *
 * <p>Code that prints names the function {@code vprintf}. Large images are not searched and count
 * as code that prints.
 */
public final class PrintingCode {
  private static final String FUNCTION = "vprintf";
  private static final int LARGEST = 256 << 10;

  private boolean prints;

  /** Returns whether any code that was loaded so far may print. */
  public boolean mayPrint() {
    return prints;
  }

  /** Searches an image that is loaded. */
  void loaded(long image, long bytes) {
    prints =
        prints
            || bytes > LARGEST
            || DeviceCode.mayUse(Scratch.bytesAt(image, (int) bytes), FUNCTION);
  }

  /** Notes code that was loaded and cannot be searched. */
  void loadedOther() {
    prints = true;
  }
}
