package graft.remoting.server.system;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.UUID;

/**
 * The claim on a Unix socket's path. A socket file stays behind when its process is killed, and
 * binding to its path then fails; removing the file without a check would take the path from a
 * running process. Therefore the path belongs to the process that holds a lock on {@code
 * PATH.lock}, which the kernel releases with the process.
 */
final class SocketFile implements AutoCloseable {
  private final Path path;
  private final Path lockPath;
  private final FileChannel lockFile;

  private SocketFile(Path path, Path lockPath, FileChannel lockFile) {
    this.path = path;
    this.lockPath = lockPath;
    this.lockFile = lockFile;
  }

  /**
   * Claims {@code path} and removes the socket that an ended process left there.
   *
   * @throws ServerException if a running process has claimed it, or the file is not a socket
   */
  static SocketFile claim(Path path) throws ServerException {
    Path lockPath = path.resolveSibling(path.getFileName() + ".lock");
    try {
      FileChannel lockFile = lock(path, lockPath);
      SocketFile claimed = new SocketFile(path, lockPath, lockFile);
      try {
        claimed.removeStale();
        return claimed;
      } catch (IOException | ServerException e) {
        claimed.release();
        throw e;
      }
    } catch (NoSuchFileException e) {
      throw new ServerException(
          "cannot listen at unix://" + path + ": the folder is not there; make it first", e);
    } catch (IOException e) {
      throw new ServerException("cannot listen at unix://" + path + ": " + e, e);
    }
  }

  private static FileChannel lock(Path path, Path lockPath) throws IOException, ServerException {
    while (true) {
      FileChannel channel =
          FileChannel.open(
              lockPath,
              StandardOpenOption.CREATE,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE);
      FileLock lock;
      try {
        lock = channel.tryLock();
      } catch (OverlappingFileLockException e) {
        channel.close();
        throw Listener.inUse(new ListenAddress.Unix(path), e);
      }
      if (lock == null) {
        channel.close();
        throw Listener.inUse(new ListenAddress.Unix(path), null);
      }
      if (isStillAt(lockPath, channel)) {
        return channel;
      }
      channel.close(); // The last holder removed the file between open and lock: try again.
    }
  }

  private static boolean isStillAt(Path lockPath, FileChannel channel) throws IOException {
    byte[] mark = UUID.randomUUID().toString().getBytes(StandardCharsets.US_ASCII);
    channel.truncate(0);
    channel.write(ByteBuffer.wrap(mark), 0);
    try {
      return java.util.Arrays.equals(Files.readAllBytes(lockPath), mark);
    } catch (NoSuchFileException e) {
      return false;
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

  private void release() {
    try {
      Files.deleteIfExists(lockPath);
      lockFile.close();
    } catch (IOException e) {
      // The kernel releases the lock with the process; a lock file that stays behind is reused.
    }
  }

  @Override
  public void close() {
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      // A lock file that stays behind is reused by the next server.
    }
    release();
  }
}
