package graft.hypervisors.libvirt;

import graft.common.values.MemorySize;
import java.time.Duration;

/**
 * libvirt's figures for a guest.
 *
 * @param cpus the number of virtual CPUs
 * @param maxMemory the largest amount of memory that the guest may have
 * @param memory the present amount of memory
 * @param cpuTime the CPU time that the guest has used since its start
 */
public record GuestInfo(
    GuestState state, int cpus, MemorySize maxMemory, MemorySize memory, Duration cpuTime) {}
