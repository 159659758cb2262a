package graft.remoting.server.session.code;

import graft.remoting.server.system.Scratch;
import graft.remoting.software.DeviceCode;

/**
 * Whether a session's kernels may print. The driver prints only in a call that waits, so where the
 * server has seen that a stream is idle it makes such a call all the same; most code does not
 * print, and then that costs a microsecond or two for nothing.
 *
 * <p>Code that prints names the function {@code vprintf}. Large images are not looked into, and
 * count as code that prints.
 */
public final class PrintingCode {
  private static final String FUNCTION = "vprintf";
  private static final int LARGEST = 256 << 10;

  private boolean prints;

  /** Whether any code so far may. */
  public boolean mayPrint() {
    return prints;
  }

  /** An image is loaded. */
  void loaded(long image, long bytes) {
    prints =
        prints
            || bytes > LARGEST
            || DeviceCode.mayUse(Scratch.bytesAt(image, (int) bytes), FUNCTION);
  }

  /** Code is loaded that nobody has looked into. */
  void loadedOther() {
    prints = true;
  }
}
