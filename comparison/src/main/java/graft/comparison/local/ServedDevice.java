package graft.comparison.local;

import graft.common.GraftException;
import graft.remoting.server.control.DeviceSpec;

/**
 * The device of a server in the users' notation: {@code software}, {@code gpu} or {@code gpu:N}.
 */
public final class ServedDevice {
  private ServedDevice() {}

  /**
   * Reads a device in the users' notation. The server's own notation is {@code cuda} instead of
   * {@code gpu}.
   */
  public static DeviceSpec parse(String text) {
    if (!text.matches("software|gpu(:[0-9]{1,3})?")) {
      throw new GraftException("'" + text + "' is no device", "write software, gpu or gpu:N");
    }
    return DeviceSpec.parse(text.replaceFirst("^gpu", "cuda"));
  }
}
