package graft.provisioner.bundle;

import graft.provisioner.setup.FileStamp;

/**
 * A regular file of a source.
 *
 * @param relative its path under the source with a slash before it; empty if it is the source
 * @param executable whether it is a program
 */
public record TreeFile(FileStamp stamp, String relative, boolean executable) {}
