package graft.comparison.bench;

/**
 * What is measured.
 *
 * @param name as the program prints it
 * @param bytes of the copy or allocation, 0 for what has no size
 */
public record Figure(String name, long bytes) {
  /** The size for people, empty if there is none. */
  public String size() {
    if (bytes == 0) {
      return "";
    }
    if (bytes % (1 << 20) == 0) {
      return bytes / (1 << 20) + " MiB";
    }
    return bytes % 1024 == 0 ? bytes / 1024 + " KiB" : Long.toString(bytes);
  }
}
