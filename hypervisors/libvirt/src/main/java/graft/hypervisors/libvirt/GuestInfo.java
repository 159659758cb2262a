package graft.hypervisors.libvirt;

import graft.common.values.MemorySize;
import java.time.Duration;

/**
 * What libvirt counts for a guest.
 *
 * @param cpus virtual CPUs
 * @param maxMemory what it may have
 * @param memory what it has now
 * @param cpuTime that it has used since it started
 */
public record GuestInfo(
    GuestState state, int cpus, MemorySize maxMemory, MemorySize memory, Duration cpuTime) {}
