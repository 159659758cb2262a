package graft.sriov;

/**
 * The number of an IOMMU group: the smallest set of devices that the IOMMU can keep apart from the
 * rest (Linux, Documentation/driver-api/vfio.rst).
 *
 * @param number the NUMBER in {@code /sys/kernel/iommu_groups/NUMBER}
 */
public record IommuGroup(int number) implements Comparable<IommuGroup> {
  public IommuGroup {
    if (number < 0) {
      throw new IllegalArgumentException("IOMMU group " + number);
    }
  }

  @Override
  public int compareTo(IommuGroup other) {
    return Integer.compare(number, other.number);
  }

  @Override
  public String toString() {
    return Integer.toString(number);
  }
}
