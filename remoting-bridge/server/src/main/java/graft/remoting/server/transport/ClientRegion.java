package graft.remoting.server.transport;

import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.system.Libc;
import java.io.IOException;

/** A sparse file that a client on this machine made and sent; it chooses the chunks. */
final class ClientRegion extends Region {
  /** Its size in the address space. */
  static final long BYTES = 1L << 40;

  /**
   * Maps the rings' part.
   *
   * @param fd the descriptor that the client sent; the region's from now on
   * @param address where the client has it
   */
  ClientRegion(int fd, long address) throws IOException {
    super(fd, address, BYTES);
    checkSealed();
    if (mapAt(0, CONTROL) == 0) {
      throw new ProtocolException(
          "the client's shared memory cannot be mapped at its address in this process");
    }
  }

  /** A file that could shrink would end this process when it does. */
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

  /** Only the client knows which chunks it has. */
  @Override
  public long take(long length) {
    return 0;
  }

  @Override
  public void unmap(long offset, long length) {
    unmapAt(offset, length);
  }
}
