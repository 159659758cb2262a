package graft.remoting.server.transport;

import com.sun.jna.Native;
import graft.remoting.device.Memory;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.time.Duration;

/**
 * The server's certificate and the authorities that it trusts, in libvirt's layout below a folder,
 * for one handshake with a node. The handshake is the client's own code ({@code
 * client/src/transport/certificates.h}) in {@code libgraft-transport.so}, since Java 17's TLS has
 * no exporter (RFC 8446, 7.5). Bound by JNA direct mapping; pointers are addresses.
 */
public final class Certificates implements AutoCloseable {
  private static final int REASON = 512;

  /** struct graft_node. */
  private static final int SECRET = 32;

  private static final int LARGEST_CERTIFICATE = 16_384;
  private static final int CERTIFICATE_AT = SECRET + Integer.BYTES;

  /** enum graft_node_result. */
  private static final int REFUSED = 1;

  private static final int KNOWN = 2;

  static {
    Native.register(Certificates.class, "graft-transport");
  }

  private long own;

  private Certificates(long own) {
    this.own = own;
  }

  /**
   * Reads the files of this end.
   *
   * @param folder usually {@code /etc/pki}
   * @throws IOException if a file cannot be used, or OpenSSL is missing; the message names it
   */
  public static Certificates open(Path folder) throws IOException {
    return open(folder, "");
  }

  /**
   * Reads the files of one end.
   *
   * @param host the host that a client dials, empty for the server
   */
  static Certificates open(Path folder, String host) throws IOException {
    try (Scratch path = text(folder.toString());
        Scratch dialled = text(host);
        Scratch reason = new Scratch(REASON)) {
      long own =
          graft_certificates_open(
              path.address(), host.isEmpty() ? 0 : dialled.address(), reason.address(), REASON);
      if (own == 0) {
        throw new IOException(HandshakeMessages.text(reason.bytes(0, REASON)));
      }
      return new Certificates(own);
    }
  }

  private static Scratch text(String text) {
    return Scratch.of((text + "\0").getBytes(StandardCharsets.UTF_8));
  }

  /**
   * Performs the handshake with the other end. Reads nothing that follows it; the socket stays
   * plain.
   *
   * @throws CertificateException if the other end's certificate is not valid
   * @throws IOException if the other end does not complete the handshake in time
   */
  public Node authenticate(NativeSocket socket, Duration limit)
      throws IOException, CertificateException {
    try (Scratch node = new Scratch(CERTIFICATE_AT + LARGEST_CERTIFICATE);
        Scratch reason = new Scratch(REASON)) {
      int result =
          graft_certificates_authenticate(
              own,
              socket.fd(),
              (int) Math.max(0, limit.toMillis()),
              node.address(),
              reason.address(),
              REASON);
      if (result == KNOWN) {
        int bytes = Memory.getInt(node.address() + SECRET);
        Node known = Node.of(node.bytes(0, SECRET), node.bytes(CERTIFICATE_AT, bytes));
        Memory.fill(node.address(), SECRET, (byte) 0);
        return known;
      }
      String why = HandshakeMessages.text(reason.bytes(0, REASON));
      if (result == REFUSED) {
        throw new CertificateException(why);
      }
      throw new IOException(why);
    }
  }

  @Override
  public void close() {
    graft_certificates_close(own);
    own = 0;
  }

  private static native long graft_certificates_open(
      long folder, long host, long reason, long size);

  private static native int graft_certificates_authenticate(
      long own, int socket, int milliseconds, long node, long reason, long size);

  private static native void graft_certificates_close(long own);
}
