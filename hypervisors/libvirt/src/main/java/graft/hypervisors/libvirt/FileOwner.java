package graft.hypervisors.libvirt;

/** A user and a group of the host by number. */
public record FileOwner(Integer uid, Integer gid) {}
