package graft.deployment.observe;

import graft.guests.payload.FileStamp;
import java.nio.file.Path;

/**
 * A regular file that exists.
 *
 * @param modified time of the last change, in ms since 1970
 * @param readable whether this process may read it
 * @param qcow2 whether it begins with the magic number of qcow2
 * @param reachable whether every user may enter the folders that lead to it
 * @param tokenProblem of a file that the descriptor names for a token: why it holds none that can
 *     be used; else empty
 */
public record FileFacts(
    long size,
    long modified,
    boolean readable,
    boolean qcow2,
    boolean reachable,
    String tokenProblem) {

  /** A file that need not hold a token. */
  public FileFacts(long size, long modified, boolean readable, boolean qcow2, boolean reachable) {
    this(size, modified, readable, qcow2, reachable, "");
  }

  FileFacts withTokenProblem(String problem) {
    return new FileFacts(size, modified, readable, qcow2, reachable, problem);
  }

  public FileStamp stamp(Path path) {
    return new FileStamp(path, size, modified);
  }
}
