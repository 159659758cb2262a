package graft.hypervisors.libvirt.domain;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;

/** A set of CPU or NUMA node numbers in the kernel's list format, {@code 0-3,8}. */
public final class CpuSet {

  private final BitSet members;

  private CpuSet(BitSet members) {
    this.members = members;
  }

  /** The given numbers. */
  public static CpuSet of(int... numbers) {
    return of(Arrays.stream(numbers).boxed().toList());
  }

  /** The given numbers. */
  public static CpuSet of(Collection<Integer> numbers) {
    BitSet set = new BitSet();
    numbers.forEach(set::set);
    return new CpuSet(set);
  }

  /**
   * Parses the kernel's list format.
   *
   * @throws IllegalArgumentException if the text has another form
   */
  public static CpuSet parse(String list) {
    BitSet set = new BitSet();
    for (String part : list.split(",", -1)) {
      String[] ends = part.strip().split("-", -1);
      try {
        int first = Integer.parseInt(ends[0]);
        int last = ends.length == 1 ? first : Integer.parseInt(ends[1]);
        if (ends.length > 2 || first < 0 || last < first) {
          throw new NumberFormatException();
        }
        set.set(first, last + 1);
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException(
            "not a list of CPUs: '" + list + "'; write it as 0-3,8", e);
      }
    }
    return new CpuSet(set);
  }

  public boolean contains(int number) {
    return members.get(number);
  }

  public boolean containsAll(CpuSet other) {
    BitSet rest = (BitSet) other.members.clone();
    rest.andNot(members);
    return rest.isEmpty();
  }

  public int size() {
    return members.cardinality();
  }

  public boolean isEmpty() {
    return members.isEmpty();
  }

  /** The members in ascending order. */
  public int[] toArray() {
    return members.stream().toArray();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof CpuSet set && set.members.equals(members);
  }

  @Override
  public int hashCode() {
    return members.hashCode();
  }

  @Override
  public String toString() {
    StringBuilder out = new StringBuilder();
    for (int first = members.nextSetBit(0); first >= 0; ) {
      int last = members.nextClearBit(first) - 1;
      out.append(out.isEmpty() ? "" : ",").append(first);
      if (last > first) {
        out.append('-').append(last);
      }
      first = members.nextSetBit(last + 1);
    }
    return out.toString();
  }
}
