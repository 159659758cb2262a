package graft.deployment.state;

import graft.common.disk.StateDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/** A disk that has room for a number of bytes. Of what does not fit it keeps the beginning. */
public final class SmallDisk extends StateDisk implements AutoCloseable {
  private final StateDisk before;
  private long room;

  /** Takes the place of the disk until it is closed. */
  public SmallDisk(long room) {
    this.room = room;
    this.before = StateDisk.replace(this);
  }

  /** Changes how many bytes are free. */
  public synchronized void room(long bytes) {
    room = bytes;
  }

  @Override
  public Output create(Path file) throws IOException {
    return new Limited(super.create(file), 0);
  }

  @Override
  public Output append(Path file, long length) throws IOException {
    return new Limited(super.append(file, length), length);
  }

  @Override
  public synchronized boolean delete(Path path) throws IOException {
    long freed = Files.isRegularFile(path) ? Files.size(path) : 0;
    boolean there = super.delete(path);
    room += freed;
    return there;
  }

  private final class Limited implements Output {
    private final Output real;
    private long length;

    Limited(Output real, long length) {
      this.real = real;
      this.length = length;
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
      synchronized (SmallDisk.this) {
        int fits = (int) Math.min(room, bytes.remaining());
        boolean isFull = fits < bytes.remaining();
        bytes.limit(bytes.position() + fits);
        real.write(bytes);
        room -= fits;
        length += fits;
        if (isFull) {
          throw new IOException("No space left on device");
        }
      }
    }

    @Override
    public void sync() throws IOException {
      real.sync();
    }

    @Override
    public void truncate(long to) throws IOException {
      synchronized (SmallDisk.this) {
        real.truncate(to);
        room += length - to;
        length = to;
      }
    }

    @Override
    public void close() throws IOException {
      real.close();
    }
  }

  @Override
  public void close() {
    StateDisk.replace(before);
  }
}
