package graft.hypervisors.libvirt.domain;

import graft.common.values.MemorySize;

/**
 * Memory that a guest shares with the host and with every other guest that names the same region.
 * Under QEMU the memory is {@code /dev/shm/NAME} on the host and BAR 2 of an ivshmem device in the
 * guest. The file remains after the guest stops (seen with libvirt 9.0), so that Graft has to
 * remove it.
 *
 * @param name the name of the region on the host
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
