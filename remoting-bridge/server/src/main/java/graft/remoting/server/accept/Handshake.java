package graft.remoting.server.accept;

import graft.common.grants.Grant;
import graft.remoting.device.Memory;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.protocol.HandshakeMessages.Hello;
import graft.remoting.server.protocol.HandshakeStatus;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.system.ServerException;
import graft.remoting.server.transport.Certificates;
import graft.remoting.server.transport.Node;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.function.LongPredicate;

/**
 * The server's side of the handshake: HELLO, CHALLENGE, for a client with a certificate TLS, PROOF.
 * WELCOME is sent by the process that takes the connection over. Every message has a fixed size and
 * the whole handshake a time limit, so that an unauthenticated client can cost the server only its
 * own connection.
 */
public final class Handshake {
  private final long apiHash;
  private final LongPredicate isServed;
  private final Grants grants;
  private final NodeCertificates certificates;
  private final Sessions sessions;
  private final Duration limit;
  private final SecureRandom random = new SecureRandom();
  private final byte[] nobody = new byte[32];

  /**
   * A handshake.
   *
   * @param apiHash the hash of the server's API description
   * @param isServed whether clients whose API description has that hash are served
   * @param limit the time within which a client must authenticate
   */
  public Handshake(
      long apiHash,
      LongPredicate isServed,
      Grants grants,
      NodeCertificates certificates,
      Sessions sessions,
      Duration limit) {
    this.apiHash = apiHash;
    this.isServed = isServed;
    this.grants = grants;
    this.certificates = certificates;
    this.sessions = sessions;
    this.limit = limit;
    random.nextBytes(nobody);
  }

  /**
   * A client that has proved that it knows its token, or the secret of its certificate's handshake.
   *
   * @param serverProof the server's own proof, for WELCOME
   * @param sessionSecret the secret that further connections of the new session must prove to know
   * @param tlsKey the pre-shared key of TLS on this connection, empty without TLS
   */
  record Accepted(Hello hello, Grant grant, Bytes serverProof, Bytes sessionSecret, Bytes tlsKey) {}

  /** The secrets of the sessions that are served now. */
  public interface Sessions {
    /** Returns the secret of the session of that name and id, null if there is none. */
    Bytes secret(long id, String name);
  }

  /**
   * Authenticates the client.
   *
   * @param isSuspect whether the client's source has used up its refusals of this second. Then no
   *     certificate is verified, which takes more time than a token.
   * @throws HandshakeException if the client gets no session. Nothing has been sent to the client
   *     yet except, perhaps, CHALLENGE, and a TLS handshake with certificates.
   */
  Accepted run(NativeSocket socket, boolean isSuspect) throws IOException, ServerException {
    long deadline = System.nanoTime() + limit.toNanos();
    Hello hello = Hello.decode(receive(socket, HandshakeMessages.HELLO, deadline));
    checkForm(hello);
    byte[] nonce = new byte[HandshakeMessages.NONCE];
    random.nextBytes(nonce);
    Node node = null;
    try (Certificates certificates = prepare(socket, hello, nonce, isSuspect, deadline)) {
      // A client goes on if it gets the hash that it has sent.
      send(
          socket,
          HandshakeMessages.challenge(HandshakeStatus.OK, hello.apiHash(), nonce),
          deadline);
      if (certificates != null) {
        node = NodeCertificates.meet(certificates, socket, deadline);
      }
    }
    return verify(hello, nonce, receive(socket, HandshakeMessages.PROOF, deadline), node);
  }

  private static void checkForm(Hello hello) throws HandshakeException {
    if (hello.magic() != HandshakeMessages.MAGIC) {
      throw new HandshakeException(HandshakeStatus.MALFORMED, "the peer is not a Graft client");
    }
    if (!hello.hasKnownFlags()) {
      throw new HandshakeException(
          HandshakeStatus.MALFORMED, "the greeting has unknown flags " + hello.flags());
    }
    if (!hello.hasKnownConnections()) {
      throw new HandshakeException(
          HandshakeStatus.MALFORMED, "the greeting asks for too many connections to the GPU");
    }
  }

  /**
   * Returns the server's certificates, null if the client has none. If the handshake cannot go on,
   * tells the client so by the challenge.
   */
  private Certificates prepare(
      NativeSocket socket, Hello hello, byte[] nonce, boolean isSuspect, long deadline)
      throws IOException, ServerException {
    try {
      checkVersion(hello);
      return hello.hasCertificate() ? certificates.open(isSuspect) : null;
    } catch (ServerException e) {
      HandshakeStatus status =
          e instanceof HandshakeException refusal ? refusal.status() : HandshakeStatus.NO_WORKER;
      send(socket, HandshakeMessages.challenge(status, apiHash, nonce), deadline);
      throw e;
    }
  }

  private void checkVersion(Hello hello) throws HandshakeException {
    if (hello.version() != HandshakeMessages.VERSION) {
      throw new HandshakeException(
          HandshakeStatus.WRONG_VERSION,
          "the client speaks protocol "
              + Integer.toUnsignedString(hello.version())
              + ", this server "
              + HandshakeMessages.VERSION
              + ": install client and server of one release");
    }
    if (!isServed.test(hello.apiHash())) {
      throw new HandshakeException(
          HandshakeStatus.WRONG_API,
          String.format(
              "the client's API description is %016x, this server's %016x: install client and server of one release",
              hello.apiHash(), apiHash));
    }
  }

  /**
   * Verifies the client's proof.
   *
   * @param node the machine whose certificate was verified, null if the client has a token
   */
  private Accepted verify(Hello hello, byte[] serverNonce, byte[] proof, Node node)
      throws ServerException {
    Grant grant = grants.of(hello.name());
    boolean further = hello.kind() != HandshakeMessages.KIND_SESSION;
    Bytes secret = further ? secret(hello) : null;
    if (further && secret == null) {
      throw new HandshakeException(
          HandshakeStatus.NO_SESSION, "the session that this connection is for has ended");
    }
    byte[] key = further ? secret.array() : credential(grant, node);
    boolean right = MessageDigest.isEqual(proof, Proofs.client(key, hello, serverNonce));
    byte[] serverProof = Proofs.server(key, hello, serverNonce);
    if (right && node != null) {
      NodeCertificates.check(node, grant);
    }
    if (!right || grant == null) {
      throw new HandshakeException(
          HandshakeStatus.REFUSED, "the server does not know this name with this token");
    }
    byte[] session = further ? key : Proofs.session(key, hello, serverNonce);
    byte[] tlsKey = hello.isEncrypted() ? Proofs.tls(session, hello, serverNonce) : new byte[0];
    return new Accepted(hello, grant, Bytes.of(serverProof), Bytes.of(session), Bytes.of(tlsKey));
  }

  /**
   * Returns what proves that a connection is one of its session, or of a server that the session's
   * client has sent; null if there is no such session.
   */
  private Bytes secret(Hello hello) {
    Bytes secret = sessions.secret(hello.sessionId(), hello.name());
    boolean isPeer = hello.kind() == HandshakeMessages.KIND_PEER;
    return secret != null && isPeer ? Bytes.of(Proofs.peer(secret.array())) : secret;
  }

  /**
   * Returns what the client of a new session has to know: the secret of the two machines'
   * certificates, or the token. An unknown name costs the same work and gets the same answer as a
   * wrong token, so that names cannot be probed; so does the name of a guest that has a
   * certificate.
   */
  private byte[] credential(Grant grant, Node node) {
    if (node != null) {
      return node.secret().array();
    }
    return grant == null || grant.hasCertificate()
        ? nobody
        : HexFormat.of().parseHex(grant.token());
  }

  private static byte[] receive(NativeSocket socket, int length, long deadline)
      throws IOException, HandshakeException {
    try (Scratch scratch = new Scratch(length)) {
      long memory = scratch.address();
      if (!socket.receiveAll(memory, length, deadline)) {
        throw new HandshakeException(
            HandshakeStatus.MALFORMED, "the connection ended or sent nothing during the handshake");
      }
      return Scratch.bytesAt(memory, length);
    }
  }

  /** Sends a handshake message. */
  static void send(NativeSocket socket, byte[] message, long deadline)
      throws IOException, HandshakeException {
    try (Scratch scratch = new Scratch(message.length)) {
      long memory = scratch.address();
      Memory.write(memory, message, 0, message.length);
      if (!socket.sendAll(memory, message.length, deadline)) {
        throw new HandshakeException(
            HandshakeStatus.MALFORMED, "the client does not read the server's answer");
      }
    }
  }
}
