package graft.remoting.server.transport;

import com.sun.jna.Native;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.NativeSocket;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Carries a session over a socket on which the client may send blocks, some of them compressed; it
 * may also send none. What is sent to the client goes as it is.
 */
public final class BlockTransport implements Transport {
  private final NativeSocket socket;
  private final AtomicLong blocks;

  private BlockTransport(NativeSocket socket, long blocks) {
    this.socket = socket;
    this.blocks = new AtomicLong(blocks);
  }

  /**
   * Returns the transport of a socket, which it takes over: one that understands blocks, if this
   * machine can decompress.
   */
  public static Transport of(NativeSocket socket) throws IOException {
    if (Blocks.obstacle().isPresent()) {
      return new SocketTransport(socket);
    }
    long tls = socket instanceof TlsSocket encrypted ? encrypted.tls() : 0;
    long blocks = Blocks.graft_blocks_open(socket.fd(), tls);
    if (blocks == 0) {
      throw new IOException("no memory for a connection");
    }
    TlsSocket.letKernelEncrypt(socket);
    return new BlockTransport(socket, blocks);
  }

  @Override
  public long tryReceive(long address, long length) throws IOException {
    return receive(address, length, false);
  }

  @Override
  public long receive(long address, long length) throws IOException {
    return receive(address, length, true);
  }

  private long receive(long address, long length, boolean waits) throws IOException {
    while (true) {
      long from = blocks.get();
      if (from == 0) {
        return END;
      }
      long count =
          waits
              ? Blocks.graft_blocks_receive(from, address, length)
              : Blocks.graft_blocks_try(from, address, length);
      if (count >= 0) {
        return count;
      }
      int errno = Native.getLastError();
      if (errno == Libc.EAGAIN) {
        return NOTHING;
      }
      if (errno == Libc.ECONNRESET) {
        return END;
      }
      if (errno != Libc.EINTR) {
        throw failure(from);
      }
    }
  }

  private IOException failure(long from) {
    IOException failure = Libc.failure("read from " + socket.peer());
    String reason = Blocks.graft_blocks_reason(from);
    if (!reason.isEmpty()) {
      throw new ProtocolException(reason);
    }
    return failure;
  }

  @Override
  public void sendAll(long address, long length, boolean more) throws IOException {
    socket.sendAll(address, length, more);
  }

  @Override
  public void close() {
    Blocks.graft_blocks_close(blocks.getAndSet(0));
    socket.close();
  }
}
