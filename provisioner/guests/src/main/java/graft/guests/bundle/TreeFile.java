package graft.guests.bundle;

import graft.guests.payload.FileStamp;

/**
 * A regular file of a source.
 *
 * @param relative its path under the source with a slash before it; empty if it is the source
 * @param executable whether it is a program
 */
public record TreeFile(FileStamp stamp, String relative, boolean executable) {}
