package graft.sriov.host;

/** Numbers as sysfs prints them. */
final class Numbers {
  private Numbers() {}

  /** Decimal, or hexadecimal with 0x; 0 for what is no number, as for an attribute not there. */
  static int decode(String text) {
    try {
      return Long.decode(text.strip()).intValue();
    } catch (NumberFormatException e) {
      return 0;
    }
  }
}
