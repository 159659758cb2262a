package graft.remoting.server.accept;

import graft.common.grants.Grant;
import graft.remoting.server.protocol.HandshakeStatus;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.ServerException;
import graft.remoting.server.transport.Certificates;
import graft.remoting.server.transport.Node;
import java.io.IOException;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.Optional;

/**
 * Authenticates nodes by certificates. All of it happens in the server's own process: a worker sees
 * neither the server's private key nor the secret on which the two ends agree.
 *
 * @param folder the files in libvirt's layout, empty if the server takes no certificates
 */
public record NodeCertificates(Optional<Path> folder) {
  /** How many names of a certificate a refusal tells. */
  private static final int NAMES = 3;

  /**
   * Reads the server's files for one handshake.
   *
   * @param isSuspect whether the client's source has used up its refusals of this second
   * @throws HandshakeException if the server takes no certificate of this client now
   * @throws ServerException if the files cannot be used
   */
  Certificates open(boolean isSuspect) throws ServerException {
    if (folder.isEmpty()) {
      throw new HandshakeException(
          HandshakeStatus.NO_CERTIFICATES,
          "this server takes tokens only: start it with --certificates, or use a token without"
              + " 'certificates' and GRAFT_CERTIFICATES");
    }
    if (isSuspect) {
      throw new HandshakeException(
          HandshakeStatus.BUSY,
          "too many connections of its address were refused: no certificate of it is verified"
              + " within this second");
    }
    try {
      return Certificates.open(folder.get());
    } catch (IOException e) {
      throw new ServerException("the server's certificates cannot be used: " + e.getMessage(), e);
    }
  }

  /**
   * Checks that the server's files can be used.
   *
   * @throws ServerException if they cannot; the message names the file
   */
  public void checkFiles() throws ServerException {
    open(false).close();
  }

  /**
   * Performs the handshake with the client's machine.
   *
   * @throws HandshakeException if the machine has no valid certificate
   */
  static Node meet(Certificates certificates, NativeSocket socket, long deadline)
      throws HandshakeException {
    try {
      return certificates.authenticate(
          socket, Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
    } catch (CertificateException e) {
      throw new HandshakeException(HandshakeStatus.REFUSED, e.getMessage());
    } catch (IOException e) {
      // The client would take an answer for a part of the handshake.
      throw new HandshakeException(HandshakeStatus.MALFORMED, e.getMessage());
    }
  }

  /**
   * Checks that a guest's line of the tokens file is for the machine that has authenticated.
   *
   * @param grant the line of the name that the client gives, null if there is none
   */
  static void check(Node node, Grant grant) throws HandshakeException {
    if (grant == null || !grant.hasCertificate() || !node.isFor(grant.certificate())) {
      throw new HandshakeException(
          HandshakeStatus.REFUSED,
          "the server does not know this name with this certificate, which is for "
              + node.names().stream()
                  .limit(NAMES)
                  .reduce((first, second) -> first + ", " + second)
                  .orElse("no machine"));
    }
  }
}
