package graft.remoting.server.transport;

import graft.remoting.server.system.NativeSocket;
import java.io.IOException;

/** Carries a session over a socket: TCP, a Unix socket or vsock. */
public final class SocketTransport implements Transport {
  private final NativeSocket socket;

  /** Creates the transport, which takes over {@code socket}. */
  public SocketTransport(NativeSocket socket) {
    this.socket = socket;
    TlsSocket.letKernelEncrypt(socket);
  }

  @Override
  public long tryReceive(long address, long length) throws IOException {
    return socket.tryReceive(address, length);
  }

  @Override
  public long receive(long address, long length) throws IOException {
    return socket.receive(address, length);
  }

  @Override
  public void sendAll(long address, long length, boolean more) throws IOException {
    socket.sendAll(address, length, more);
  }

  @Override
  public void close() {
    socket.close();
  }
}
