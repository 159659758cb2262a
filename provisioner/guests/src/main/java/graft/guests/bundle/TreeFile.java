package graft.guests.bundle;

import graft.guests.payload.FileStamp;

/**
 * A regular file of a source.
 *
 * @param relative the file's path below the source, beginning with a slash; empty if the source is
 *     itself the file
 * @param executable whether the file is executable
 */
public record TreeFile(FileStamp stamp, String relative, boolean executable) {}
