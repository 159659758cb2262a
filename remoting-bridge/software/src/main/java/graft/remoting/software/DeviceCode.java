package graft.remoting.software;

import graft.remoting.software.image.Fatbin;
import graft.remoting.software.image.ImageException;
import java.nio.charset.StandardCharsets;

/** Inspects device code without loading it. */
public final class DeviceCode {
  private DeviceCode() {}

  /**
   * Returns whether code may use a function. Compressed PTX is decompressed and searched.
   *
   * @param image a fat binary, an ELF file or PTX
   * @return true also for an image that cannot be read
   */
  public static boolean mayUse(byte[] image, String function) {
    try {
      return Fatbin.of(image).contains(function.getBytes(StandardCharsets.US_ASCII));
    } catch (ImageException damaged) {
      return true;
    }
  }
}
