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
import java.io.IOException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;

/**
 * The server's side of the handshake: HELLO, CHALLENGE, PROOF. WELCOME is sent by the process that
 * takes the connection over. Every message has a fixed size and the whole handshake a time limit,
 * so that an unauthenticated client can cost the server only its own connection.
 */
public final class Handshake {
  private final long apiHash;
  private final Grants grants;
  private final Sessions sessions;
  private final Duration limit;
  private final SecureRandom random = new SecureRandom();
  private final byte[] nobody = new byte[32];

  public Handshake(long apiHash, Grants grants, Sessions sessions, Duration limit) {
    this.apiHash = apiHash;
    this.grants = grants;
    this.sessions = sessions;
    this.limit = limit;
    random.nextBytes(nobody);
  }

  /**
   * A client that has proved that it knows its token.
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
   * @throws HandshakeException if the client gets no session. Nothing has been sent to the client
   *     yet except, perhaps, CHALLENGE.
   */
  Accepted run(NativeSocket socket) throws IOException, ServerException {
    long deadline = System.nanoTime() + limit.toNanos();
    Hello hello = Hello.decode(receive(socket, HandshakeMessages.HELLO, deadline));
    byte[] serverNonce = new byte[HandshakeMessages.NONCE];
    random.nextBytes(serverNonce);
    HandshakeStatus status = check(hello);
    send(socket, HandshakeMessages.challenge(status, apiHash, serverNonce), deadline);
    if (status == HandshakeStatus.WRONG_VERSION) {
      throw new HandshakeException(
          status,
          "the client speaks protocol "
              + Integer.toUnsignedString(hello.version())
              + ", this server "
              + HandshakeMessages.VERSION
              + ": install client and server of one release");
    }
    if (status == HandshakeStatus.WRONG_API) {
      throw new HandshakeException(
          status,
          String.format(
              "the client's API description is %016x, this server's %016x: install client and server of one release",
              hello.apiHash(), apiHash));
    }
    byte[] proof = receive(socket, HandshakeMessages.PROOF, deadline);
    Grant grant = grants.of(hello.name());
    boolean further = hello.kind() == HandshakeMessages.KIND_CONNECTION;
    Bytes secret = further ? sessions.secret(hello.sessionId(), hello.name()) : null;
    if (further && secret == null) {
      throw new HandshakeException(
          HandshakeStatus.NO_SESSION, "the session that this connection is for has ended");
    }
    // An unknown name costs the same work and gets the same answer as a wrong token, so that names
    // cannot be probed.
    byte[] token = grant == null ? nobody : HexFormat.of().parseHex(grant.token());
    byte[] key = further ? secret.array() : token;
    boolean right = MessageDigest.isEqual(proof, Proofs.client(key, hello, serverNonce));
    byte[] serverProof = Proofs.server(key, hello, serverNonce);
    if (!right || grant == null) {
      throw new HandshakeException(
          HandshakeStatus.REFUSED, "the server does not know this name with this token");
    }
    byte[] session = further ? key : Proofs.session(token, hello, serverNonce);
    byte[] tlsKey = hello.isEncrypted() ? Proofs.tls(session, hello, serverNonce) : new byte[0];
    return new Accepted(hello, grant, Bytes.of(serverProof), Bytes.of(session), Bytes.of(tlsKey));
  }

  private HandshakeStatus check(Hello hello) throws HandshakeException {
    if (hello.magic() != HandshakeMessages.MAGIC) {
      throw new HandshakeException(HandshakeStatus.MALFORMED, "the peer is not a Graft client");
    }
    if (!hello.hasKnownFlags()) {
      throw new HandshakeException(
          HandshakeStatus.MALFORMED, "the greeting has unknown flags " + hello.flags());
    }
    if (hello.version() != HandshakeMessages.VERSION) {
      return HandshakeStatus.WRONG_VERSION;
    }
    return hello.apiHash() == apiHash ? HandshakeStatus.OK : HandshakeStatus.WRONG_API;
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
