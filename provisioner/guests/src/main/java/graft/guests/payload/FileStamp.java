package graft.guests.payload;

import java.nio.file.Path;

/**
 * A file as it was when something was made from it. A file of another size or time is taken to be
 * another file: hashing disk images would take minutes.
 *
 * @param modified in ms since 1970
 */
public record FileStamp(Path path, long size, long modified) {}
