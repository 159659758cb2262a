package graft.sriov.host;

import graft.common.values.MemorySize;

/**
 * One base address register of a device, from its {@code resource} file.
 *
 * @param index 0 to 5
 * @param start the bus address that the kernel gave it, 0 when it gave none
 * @param size how much it maps
 * @param io whether it is I/O ports and not memory
 * @param wide whether it can lie above 4 GiB
 * @param prefetchable whether reads have no side effects
 */
public record Bar(
    int index, long start, MemorySize size, boolean io, boolean wide, boolean prefetchable) {}
