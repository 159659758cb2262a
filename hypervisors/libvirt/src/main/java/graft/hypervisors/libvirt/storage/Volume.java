package graft.hypervisors.libvirt.storage;

import graft.common.values.MemorySize;

/**
 * A volume of a storage pool as it was when the host was asked.
 *
 * @param path on the host that runs libvirt
 * @param capacity what a guest sees
 * @param allocation what it takes on the host
 */
public record Volume(
    String pool, String name, String path, MemorySize capacity, MemorySize allocation) {}
