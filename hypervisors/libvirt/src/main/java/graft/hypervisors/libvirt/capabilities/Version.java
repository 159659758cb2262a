package graft.hypervisors.libvirt.capabilities;

/** A version of libvirt or of a hypervisor. */
public record Version(int major, int minor, int release) implements Comparable<Version> {

  /** Decodes libvirt's {@code major * 1,000,000 + minor * 1,000 + release}. */
  public static Version decode(long number) {
    return new Version(
        (int) (number / 1_000_000), (int) (number / 1_000 % 1_000), (int) (number % 1_000));
  }

  @Override
  public int compareTo(Version other) {
    int byMajor = Integer.compare(major, other.major);
    int byMinor = Integer.compare(minor, other.minor);
    return byMajor != 0
        ? byMajor
        : byMinor != 0 ? byMinor : Integer.compare(release, other.release);
  }

  @Override
  public String toString() {
    return major + "." + minor + "." + release;
  }
}
