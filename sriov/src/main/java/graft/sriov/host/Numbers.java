package graft.sriov.host;

/** Parses numbers as sysfs prints them. */
final class Numbers {
  private Numbers() {}

  /**
   * Parses a decimal number, or a hexadecimal one with 0x; 0 if the text is not a number, as for an
   * absent attribute.
   */
  static int decode(String text) {
    try {
      return Long.decode(text.strip()).intValue();
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
