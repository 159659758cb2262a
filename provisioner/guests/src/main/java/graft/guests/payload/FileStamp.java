package graft.guests.payload;

import java.nio.file.Path;

/**
 * The state of a file when something was made from it. A file of another size or time is considered
 * a different file, because hashing disk images would take minutes.
 *
 * @param modified in ms since 1970
 */
public record FileStamp(Path path, long size, long modified) {}
