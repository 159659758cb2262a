package graft.remoting.server;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** HMAC-SHA256 over the handshake's parts. */
final class TestMac {
  private TestMac() {}

  static byte[] of(
      byte[] key, String label, byte[] first, byte[] second, ByteBuffer hash, byte[] name) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      mac.update(label.getBytes(StandardCharsets.US_ASCII));
      mac.update(first);
      mac.update(second);
      mac.update(hash.duplicate());
      mac.update(name);
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }
}
