package graft.remoting.server.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * The claim on a Unix socket's path. A socket file stays behind when its process is killed, and
 * binding to its path then fails; removing the file without a check would take the path from a
 * running process. Therefore the path belongs to the process that holds a lock on {@code
 * PATH.lock}, which the kernel releases with the process.
 */
final class SocketFile implements AutoCloseable {
  private final Path path;
  private final LockedFile lock;

  private SocketFile(Path path, LockedFile lock) {
    this.path = path;
    this.lock = lock;
  }

  /**
   * Claims {@code path} and removes the socket that an ended process left there.
   *
   * @throws ServerException if a running process has claimed it, or the file is not a socket
   */
  static SocketFile claim(Path path) throws ServerException {
    try {
      LockedFile lock = LockedFile.tryLock(path.resolveSibling(path.getFileName() + ".lock"));
      if (lock == null) {
        throw Listener.inUse(new ListenAddress.Unix(path), null);
      }
      SocketFile claimed = new SocketFile(path, lock);
      try {
        claimed.removeStale();
        return claimed;
      } catch (IOException | ServerException e) {
        lock.close();
        throw e;
      }
    } catch (NoSuchFileException e) {
      throw new ServerException(
          "cannot listen at unix://" + path + ": the folder is not there; make it first", e);
    } catch (IOException e) {
      throw new ServerException("cannot listen at unix://" + path + ": " + e, e);
    }
  }

  private void removeStale() throws IOException, ServerException {
    BasicFileAttributes attributes;
    try {
      attributes = Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    } catch (NoSuchFileException e) {
      return;
    }
    if (!attributes.isOther()) {
      throw new ServerException(
          "cannot listen at unix://" + path + ": a file is there that is no socket; remove it");
    }
    Files.delete(path);
  }

  @Override
  public void close() {
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      // A lock file that stays behind is reused by the next server.
    }
    lock.close();
  }
}
