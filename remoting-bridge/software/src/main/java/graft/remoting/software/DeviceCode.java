package graft.remoting.software;

import graft.remoting.software.image.Fatbin;
import graft.remoting.software.image.ImageException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/** Inspects device code without loading it. */
public final class DeviceCode {
  private static final byte[] SYSTEM_SCOPE = ".sys.".getBytes(StandardCharsets.US_ASCII);

  /** PTX ISA, "atom" and "red": the scope is among the qualifiers. */
  private static final Pattern SYSTEM_ATOMIC = Pattern.compile("\\b(atom|red)[.a-z0-9_]*\\.sys\\.");

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

  /**
   * Returns whether PTX has atomic operations of system scope. Compressed PTX is decompressed and
   * searched.
   *
   * @param image a fat binary, an ELF file or PTX
   * @return false also for an image that cannot be read
   */
  public static boolean hasSystemAtomics(byte[] image) {
    try {
      Fatbin code = Fatbin.of(image);
      return code.contains(SYSTEM_SCOPE) && code.contains(SYSTEM_ATOMIC);
    } catch (ImageException damaged) {
      return false;
    }
  }
}
