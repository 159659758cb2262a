package graft.remoting.server.accept;

import graft.remoting.server.protocol.HandshakeMessages;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The proofs by which each side shows that it knows the token without sending it. A further
 * connection of a session proves instead that it knows the session's secret, which is derived from
 * the token and both nonces of the session's handshake and is never sent either.
 */
final class Proofs {
  private Proofs() {}

  /** Returns the proof of a client that knows {@code token}. */
  static byte[] client(byte[] token, HandshakeMessages.Hello hello, byte[] serverNonce) {
    return mac(token, "graft client 1", serverNonce, hello.clientNonce().array(), hello);
  }

  /** Returns the proof of a server that knows {@code token}. */
  static byte[] server(byte[] token, HandshakeMessages.Hello hello, byte[] serverNonce) {
    return mac(token, "graft server 1", hello.clientNonce().array(), serverNonce, hello);
  }

  /** Returns the secret of the session that this handshake begins. */
  static byte[] session(byte[] token, HandshakeMessages.Hello hello, byte[] serverNonce) {
    return mac(token, "graft session 1", hello.clientNonce().array(), serverNonce, hello);
  }

  /**
   * Returns the pre-shared key of TLS on the connection that this handshake opens.
   *
   * @param session the secret of the session
   */
  static byte[] tls(byte[] session, HandshakeMessages.Hello hello, byte[] serverNonce) {
    return mac(session, "graft tls 1", hello.clientNonce().array(), serverNonce, hello);
  }

  /**
   * Returns the secret by which another server proves that the session's client has sent it.
   *
   * @param session the secret of the session
   */
  static byte[] peer(byte[] session) {
    return mac(session, "graft peer 1");
  }

  private static byte[] mac(byte[] key, String label, byte[]... parts) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      mac.update(label.getBytes(StandardCharsets.US_ASCII));
      for (byte[] part : parts) {
        mac.update(part);
      }
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java runtime has HmacSHA256", e);
    }
  }

  private static byte[] mac(
      byte[] token, String label, byte[] first, byte[] second, HandshakeMessages.Hello hello) {
    byte[] greeting = hello.encode();
    return mac(
        token,
        label,
        first,
        second,
        Arrays.copyOfRange(greeting, HandshakeMessages.HASH, HandshakeMessages.HASH + Long.BYTES),
        Arrays.copyOfRange(greeting, HandshakeMessages.NAME_AT, HandshakeMessages.HELLO));
  }
}
