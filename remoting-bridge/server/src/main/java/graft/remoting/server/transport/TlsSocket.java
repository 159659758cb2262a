package graft.remoting.server.transport;

import graft.remoting.device.Memory;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS on a socket: what is sent and received through this object is encrypted, and bound to the
 * session by the key. One thread at a time may receive, and one may send.
 */
public final class TlsSocket extends NativeSocket {
  private static final Logger LOG = LoggerFactory.getLogger(TlsSocket.class);

  private final AtomicLong tls;

  private TlsSocket(NativeSocket socket, long tls) {
    super(socket.fd(), socket.peer());
    this.tls = new AtomicLong(tls);
  }

  /**
   * Performs the server's side of the TLS handshake. The result takes over the descriptor of {@code
   * socket} if {@code key} is not empty.
   *
   * @param key the pre-shared key, 32 bytes; if empty, the result is {@code socket} itself
   * @throws IOException if the client does not complete the handshake in time; the socket stays
   *     open
   */
  public static NativeSocket accept(NativeSocket socket, Bytes key, Duration limit)
      throws IOException {
    return key.array().length == 0 ? socket : open(socket, true, key, limit);
  }

  /** As {@link #accept}, the client's side. */
  public static NativeSocket connect(NativeSocket socket, Bytes key, Duration limit)
      throws IOException {
    return key.array().length == 0 ? socket : open(socket, false, key, limit);
  }

  /** Performs one side of the TLS handshake. */
  static TlsSocket open(NativeSocket socket, boolean isServer, Bytes key, Duration limit)
      throws IOException {
    try (Scratch secret = Scratch.of(key.array());
        Scratch reason = new Scratch(Tls.REASON)) {
      long tls =
          Tls.graft_tls_open(
              socket.fd(),
              (byte) (isServer ? 1 : 0),
              secret.address(),
              (int) limit.toMillis(),
              reason.address(),
              Tls.REASON);
      Memory.fill(secret.address(), key.array().length, (byte) 0);
      if (tls == 0) {
        throw new IOException(HandshakeMessages.text(reason.bytes(0, Tls.REASON)));
      }
      return new TlsSocket(socket, tls);
    }
  }

  @Override
  protected long receiveOnce(long address, long length, int flags) {
    if (isEnded()) {
      return super.receiveOnce(address, length, flags);
    }
    return flags == 0
        ? Tls.graft_tls_receive(tls.get(), address, length)
        : Tls.graft_tls_try(tls.get(), address, length);
  }

  @Override
  public void sendAll(long address, long length, boolean more) throws IOException {
    if (isEnded()) {
      super.sendAll(address, length, more);
    } else if (length > 0
        && Tls.graft_tls_send(tls.get(), address, length, (byte) (more ? 1 : 0)) != length) {
      throw Libc.failure("send by TLS to " + peer());
    }
  }

  private boolean isEnded() {
    return tls.get() == 0;
  }

  /** Returns the native connection, 0 once TLS has ended. */
  long tls() {
    return tls.get();
  }

  /**
   * Has the kernel encrypt what is sent from here on over a socket that may have TLS, if the kernel
   * can; otherwise this process goes on encrypting. Called before another thread sends, for a
   * socket that keeps TLS until it is closed.
   */
  static void letKernelEncrypt(NativeSocket socket) {
    if (!(socket instanceof TlsSocket encrypted)) {
      return;
    }
    String setting = System.getenv().getOrDefault(Tls.KERNEL, "auto");
    String why = Tls.KERNEL + "=" + setting;
    if (!setting.equals("no")) {
      try (Scratch reason = new Scratch(Tls.REASON)) {
        if (Tls.graft_tls_send_by_kernel(encrypted.tls(), reason.address(), Tls.REASON) != 0) {
          LOG.debug("what is sent to {} is encrypted by the kernel", socket.peer());
          return;
        }
        why = HandshakeMessages.text(reason.bytes(0, Tls.REASON));
      }
    }
    LOG.debug("what is sent to {} is encrypted by this process: {}", socket.peer(), why);
  }

  /**
   * Ends TLS on a socket that may have it. The descriptor stays open, as a plain socket, for a
   * channel that sends its data another way.
   */
  public static void endTls(NativeSocket socket) {
    if (socket instanceof TlsSocket encrypted) {
      Tls.graft_tls_close(encrypted.tls.getAndSet(0));
    }
  }

  @Override
  public void close() {
    endTls(this);
    super.close();
  }
}
