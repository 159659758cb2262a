package graft.comparison.local;

import graft.common.GraftException;
import graft.remoting.server.control.DeviceSpec;

/** The device of a server as users name it: {@code software}, {@code gpu} or {@code gpu:N}. */
public final class ServedDevice {
  private ServedDevice() {}

  /** The server's word for a device: it says cuda where a descriptor says gpu. */
  public static DeviceSpec parse(String text) {
    if (!text.matches("software|gpu(:[0-9]{1,3})?")) {
      throw new GraftException("'" + text + "' is no device", "write software, gpu or gpu:N");
    }
    return DeviceSpec.parse(text.replaceFirst("^gpu", "cuda"));
  }
}
