package graft.deployment.snapshot;

import java.nio.file.Path;

/**
 * A disk that snapshots of a guest cover.
 *
 * @param name its name in the descriptor; {@code root} for the one that the guest boots
 * @param file the qcow2 file that Graft made
 */
record GuestDisk(String name, Path file) {}
