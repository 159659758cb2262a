package graft.remoting.server.transport;

import com.sun.jna.Native;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import java.io.IOException;

/**
 * Carries a session over UCX: InfiniBand, RoCE, or what else UCX finds. The socket on which the
 * client authenticated stays open and shows whether the client has disconnected.
 */
public final class UcxTransport implements Transport {
  private static final int REASON = 512;

  private final NativeSocket socket;
  private final long connection;

  private UcxTransport(NativeSocket socket, long connection) {
    this.socket = socket;
    this.connection = connection;
  }

  /**
   * Negotiates with the client at the other end of {@code socket}, and takes over the socket.
   *
   * @throws IOException with the reason, which the client has been told
   */
  public static UcxTransport open(NativeSocket socket) throws IOException {
    try (Scratch reason = new Scratch(REASON)) {
      long tls = socket instanceof TlsSocket encrypted ? encrypted.tls() : 0;
      long connection = Ucx.graft_ucx_open(socket.fd(), tls, reason.address(), REASON);
      TlsSocket.endTls(socket);
      if (connection == 0) {
        throw new IOException(HandshakeMessages.text(reason.bytes(0, REASON)));
      }
      return new UcxTransport(socket, connection);
    }
  }

  /** Returns whether large messages use an InfiniBand or RoCE adapter. */
  public boolean isOverAdapter() {
    return Ucx.graft_ucx_is_over_adapter(connection) != 0;
  }

  @Override
  public long tryReceive(long address, long length) throws IOException {
    return checked(Ucx.graft_ucx_try(connection, address, length));
  }

  @Override
  public long receive(long address, long length) throws IOException {
    return checked(Ucx.graft_ucx_receive(connection, address, length));
  }

  private long checked(long count) throws IOException {
    if (count >= 0) {
      return count;
    }
    if (Native.getLastError() == Libc.EAGAIN) {
      return NOTHING;
    }
    throw receiving();
  }

  private IOException receiving() {
    return Libc.failure("receive by rdma from " + socket.peer());
  }

  @Override
  public void sendAll(long address, long length, boolean more) throws IOException {
    if (Ucx.graft_ucx_send(connection, address, length) == 0) {
      throw Libc.failure("send by rdma to " + socket.peer());
    }
  }

  @Override
  public long beginReceive(long address, long length) throws IOException {
    return checked(Ucx.graft_ucx_take(connection, address, length));
  }

  @Override
  public long beginReceiveToGpu(long address, long length) throws IOException {
    return checked(Ucx.graft_ucx_take_gpu(connection, address, length));
  }

  @Override
  public boolean receivesSeveral() {
    return true;
  }

  @Override
  public boolean hasReceived(long mark) {
    return Ucx.graft_ucx_is_taken(connection, mark) != 0;
  }

  @Override
  public void progress() throws IOException {
    if (Ucx.graft_ucx_work_taking(connection) == 0) {
      throw receiving();
    }
  }

  @Override
  public void sendFromGpu(long address, long length) throws IOException {
    if (Ucx.graft_ucx_send_gpu(connection, address, length) == 0) {
      throw Libc.failure("send by rdma to " + socket.peer());
    }
  }

  @Override
  public void close() {
    Ucx.graft_ucx_close(connection);
    socket.close();
  }
}
