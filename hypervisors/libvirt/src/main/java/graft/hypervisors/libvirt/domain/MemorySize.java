package graft.hypervisors.libvirt.domain;

/**
 * An amount of memory or storage in bytes.
 *
 * @param bytes never negative
 */
public record MemorySize(long bytes) implements Comparable<MemorySize> {

  private static final long KIB = 1024;
  private static final long MIB = 1024 * KIB;
  private static final long GIB = 1024 * MIB;

  public MemorySize {
    if (bytes < 0) {
      throw new IllegalArgumentException("a size cannot be negative: " + bytes + " bytes");
    }
  }

  public static MemorySize ofBytes(long bytes) {
    return new MemorySize(bytes);
  }

  public static MemorySize ofKib(long kib) {
    return new MemorySize(Math.multiplyExact(kib, KIB));
  }

  public static MemorySize ofMib(long mib) {
    return new MemorySize(Math.multiplyExact(mib, MIB));
  }

  public static MemorySize ofGib(long gib) {
    return new MemorySize(Math.multiplyExact(gib, GIB));
  }

  /** Whole KiB, rounded up: libvirt counts memory in KiB and rounds the same way. */
  public long kib() {
    return bytes / KIB + (bytes % KIB == 0 ? 0 : 1);
  }

  /** Whole MiB, rounded up. */
  public long mib() {
    return bytes / MIB + (bytes % MIB == 0 ? 0 : 1);
  }

  @Override
  public int compareTo(MemorySize other) {
    return Long.compare(bytes, other.bytes);
  }

  /** The largest unit that gives a whole number, as in {@code 512MiB}. */
  @Override
  public String toString() {
    if (bytes != 0 && bytes % GIB == 0) {
      return bytes / GIB + "GiB";
    }
    if (bytes != 0 && bytes % MIB == 0) {
      return bytes / MIB + "MiB";
    }
    if (bytes != 0 && bytes % KIB == 0) {
      return bytes / KIB + "KiB";
    }
    return bytes + "B";
  }
}
