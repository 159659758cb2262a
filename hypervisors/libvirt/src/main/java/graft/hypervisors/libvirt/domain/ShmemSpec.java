package graft.hypervisors.libvirt.domain;

import graft.common.values.MemorySize;

/**
 * Memory shared with the host and with every other guest that names it. On QEMU it is {@code
 * /dev/shm/NAME} on the host and BAR 2 of an ivshmem device in the guest; the file outlives the
 * guest (seen with libvirt 9.0), so that whoever made the guest removes it.
 *
 * @param name name of the region on the host
 * @param size a power of two, at least 1 MiB
 */
public record ShmemSpec(String name, MemorySize size) {
  public ShmemSpec {
    Checks.name("shared memory", name);
    if (size.bytes() < 1 << 20 || Long.bitCount(size.bytes()) != 1) {
      throw new IllegalArgumentException(
          "shared memory '" + name + "' is " + size + ": a PCI BAR needs a power of two from 1MiB");
    }
  }
}
