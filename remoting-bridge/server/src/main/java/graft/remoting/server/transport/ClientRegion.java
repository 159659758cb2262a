package graft.remoting.server.transport;

import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.system.Libc;
import java.io.IOException;

/**
 * A sparse file that a client on this host created and sent to the worker. The client chooses the
 * chunks.
 */
final class ClientRegion extends Region {
  /** The size of the region in the address space. */
  static final long BYTES = 1L << 40;

  /**
   * Maps the part that holds the rings.
   *
   * @param fd the descriptor that the client sent; the region takes it over
   * @param address the address at which the client maps the file
   */
  ClientRegion(int fd, long address) throws IOException {
    super(fd, address, BYTES);
    checkSealed();
    if (mapAt(0, CONTROL) == 0) {
      throw new ProtocolException(
          "the client's shared memory cannot be mapped at its address in this process");
    }
  }

  /**
   * Checks the seals: if the file could shrink, an access beyond its end would kill this process.
   */
  private void checkSealed() throws IOException {
    int seals = Libc.fcntl(fd(), Libc.F_GET_SEALS, 0);
    if (seals < 0 || (seals & Libc.F_SEAL_SHRINK) == 0) {
      throw new ProtocolException("the client's shared memory may shrink; it must be sealed");
    }
    long size = Libc.lseek(fd(), 0, Libc.SEEK_END);
    if (size < BYTES) {
      throw new ProtocolException("the client's shared memory has " + size + " bytes, too few");
    }
  }

  @Override
  long rings() {
    return address();
  }

  @Override
  public long map(long offset, long length) {
    return offset >= CONTROL && holds(offset, length) ? mapAt(offset, length) : 0;
  }

  /** Always fails: only the client knows which chunks are free. */
  @Override
  public long take(long length) {
    return 0;
  }

  @Override
  public void unmap(long offset, long length) {
    unmapAt(offset, length);
  }
}
