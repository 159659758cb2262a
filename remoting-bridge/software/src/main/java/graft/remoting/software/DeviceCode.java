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
   * What a search has found.
   *
   * @param mayUseFunction whether the code may use the function; true also of an image that cannot
   *     be read
   * @param systemAtomics whether its PTX has atomic operations of system scope
   */
  public record Findings(boolean mayUseFunction, boolean systemAtomics) {}

  /**
   * Searches code. Compressed code is decompressed.
   *
   * @param image a fat binary, an ELF file or PTX
   */
  public static Findings search(byte[] image, String function) {
    try {
      Fatbin code = Fatbin.of(image);
      return new Findings(
          code.contains(function.getBytes(StandardCharsets.US_ASCII)),
          code.contains(SYSTEM_SCOPE) && code.contains(SYSTEM_ATOMIC));
    } catch (ImageException damaged) {
      return new Findings(true, false);
    }
  }
}
