package graft.hypervisors.libvirt.domain;

import graft.common.values.MemorySize;
import java.util.Optional;

/**
 * The memory of the host that backs the guest's memory.
 *
 * @param hugePages the size of the huge pages; absent for ordinary pages
 * @param locked whether the memory is never swapped out
 * @param shared whether other processes of the host may map the memory
 */
public record MemoryBacking(Optional<MemorySize> hugePages, boolean locked, boolean shared) {
  public MemoryBacking {
    hugePages.ifPresent(
        size -> {
          if (Long.bitCount(size.bytes()) != 1) {
            throw new IllegalArgumentException("a page of " + size + " is no power of two");
          }
        });
  }
}
