package graft.deployment.descriptor;

import graft.common.values.MacAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.UUID;

/**
 * Identifiers that follow from names, so that the same descriptor gives the same plan and a guest
 * or network is found again by its UUID.
 */
public final class Identities {
  private Identities() {}

  /** A guest's UUID. */
  public static UUID uuid(String setup, String guest) {
    String name = "graft:" + setup + ":" + guest;
    return UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
  }

  /** A network's UUID. */
  public static UUID networkUuid(String setup, String network) {
    return uuid(setup, "network:" + network); // no guest can have such a name
  }

  /** The address of a guest's n-th card, in the range that QEMU and KVM use (52:54:00). */
  public static MacAddress mac(String setup, String guest, int card) {
    byte[] hash = sha256(setup + ":" + guest + ":" + card);
    return MacAddress.parse("52:54:00:" + HexFormat.ofDelimiter(":").formatHex(hash, 0, 3));
  }

  /**
   * A guest's context id for vsock: outside the range of small numbers that libvirt and
   * administrators assign.
   */
  public static long cid(String setup, String guest) {
    byte[] hash = sha256(setup + ":" + guest + ":vsock");
    return (1L << 16) + (java.nio.ByteBuffer.wrap(hash).getInt() & 0x3fffffff);
  }

  private static byte[] sha256(String text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
