package graft.provisioner.setup;

import graft.provisioner.observe.FileStamp;

/**
 * A file of the host that goes into a guest.
 *
 * @param path absolute, in the guest
 * @param mode permission bits
 */
public record PayloadFile(FileStamp source, String path, int mode) {}
