package graft.remoting.server;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** What each side shows the other to prove that it has the token, without sending it. */
final class Proofs {
  private Proofs() {}

  /** What a client that has {@code token} sends. */
  static byte[] client(byte[] token, HandshakeMessages.Hello hello, byte[] serverNonce) {
    return mac(token, "graft client 1", serverNonce, hello.clientNonce().array(), hello);
  }

  /** What a server that has {@code token} answers. */
  static byte[] server(byte[] token, HandshakeMessages.Hello hello, byte[] serverNonce) {
    return mac(token, "graft server 1", hello.clientNonce().array(), serverNonce, hello);
  }

  private static byte[] mac(
      byte[] token, String label, byte[] first, byte[] second, HandshakeMessages.Hello hello) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(token, "HmacSHA256"));
      mac.update(label.getBytes(StandardCharsets.US_ASCII));
      mac.update(first);
      mac.update(second);
      mac.update(
          ByteBuffer.allocate(Long.BYTES)
              .order(ByteOrder.LITTLE_ENDIAN)
              .putLong(0, hello.apiHash()));
      mac.update(hello.rawName().array());
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java runtime has HmacSHA256", e);
    }
  }
}
