package graft.remoting.server.transport;

import graft.remoting.server.system.NativeSocket;
import java.io.IOException;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.time.Duration;

/** The client's end of the handshake with certificates, for tests outside this package. */
public final class NodePeer {
  private NodePeer() {}

  /**
   * Performs the handshake and returns the secret on which both ends have agreed.
   *
   * @param host the host for which the server's certificate has to be
   */
  public static byte[] connect(NativeSocket socket, Path folder, String host) throws IOException {
    try (Certificates own = Certificates.open(folder, host)) {
      return own.authenticate(socket, Duration.ofSeconds(10)).secret().array();
    } catch (CertificateException e) {
      throw new IOException(e);
    }
  }
}
