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
 * @param diskSize of the disk that it is an image of, in bytes
 * @param tokenProblem of a file that the descriptor names for a token: why it holds none that can
 *     be used; else empty
 */
public record FileFacts(
    long size,
    long modified,
    boolean readable,
    boolean qcow2,
    boolean reachable,
    long diskSize,
    String tokenProblem) {

  /** A file whose disk has the size of the file, and which need not hold a token. */
  public FileFacts(long size, long modified, boolean readable, boolean qcow2, boolean reachable) {
    this(size, modified, readable, qcow2, reachable, size, "");
  }

  FileFacts withTokenProblem(String problem) {
    return new FileFacts(size, modified, readable, qcow2, reachable, diskSize, problem);
  }

  public FileStamp stamp(Path path) {
    return new FileStamp(path, size, modified);
  }
}
