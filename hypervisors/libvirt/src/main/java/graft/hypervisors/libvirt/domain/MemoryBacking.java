package graft.hypervisors.libvirt.domain;

import graft.common.values.MemorySize;
import java.util.Optional;

/**
 * The memory of the host that backs the guest's memory.
 *
 * @param hugePages size of the huge pages to use; absent for ordinary pages
 * @param locked whether it may never be swapped out
 * @param shared whether other processes of the host may map it
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
