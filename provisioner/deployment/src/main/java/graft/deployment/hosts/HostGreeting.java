package graft.deployment.hosts;

import graft.common.json.Json;
import graft.hypervisors.libvirt.calls.GuestText;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The first line that the Graft of a host prints.
 *
 * @param version of that Graft, as {@code graft --version} prints it
 * @param millis its clock, in milliseconds since 1970
 */
public record HostGreeting(String version, long millis) {
  /** Some thousand years from now; a later clock is nonsense. */
  private static final long LATEST = 1L << 47;

  private static final int MOST_CHARACTERS = 100;

  /** As one line of JSON. */
  public String toJson() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("graft", version);
    tree.put("millis", millis);
    return Json.line(tree);
  }

  /**
   * Reads the line.
   *
   * @throws IOException if a program other than Graft printed it
   */
  static HostGreeting parse(String line) throws IOException {
    try {
      Map<String, Object> tree = Json.readObject(line);
      if (tree.get("graft") instanceof String version
          && tree.get("millis") instanceof Long millis
          && millis >= 0
          && millis < LATEST) {
        return new HostGreeting(version, millis);
      }
    } catch (IOException e) {
      // the exception below says more
    }
    throw new IOException(
        "its first line is not Graft's: '"
            + GuestText.line(line, MOST_CHARACTERS)
            + "'; a login script of the host must print nothing");
  }
}
