package graft.sriov.host;

import graft.common.values.MemorySize;

/**
 * One base address register of a device, from its {@code resource} file.
 *
 * @param index 0 to 5
 * @param start the bus address that the kernel assigned, 0 if none is assigned
 * @param size the size of the mapping
 * @param io whether the register maps I/O ports and not memory
 * @param wide whether the address can be above 4 GiB
 * @param prefetchable whether reads have no side effects
 */
public record Bar(
    int index, long start, MemorySize size, boolean io, boolean wide, boolean prefetchable) {}
