package graft.hypervisors.libvirt.capabilities;

/** A user and a group of the host, by their numbers. */
public record FileOwner(Integer uid, Integer gid) {}
