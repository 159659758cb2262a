package graft.sriov.plan;

import graft.sriov.Guid;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Derives the GUIDs of VFs from a base and the PF, so that a VF has the same GUID in every run and
 * no two VFs of a fabric have the same GUID.
 *
 * <pre>
 *   octet   0         1 ............ 6 (high half)   6 (low half) 7
 *           base's    first 44 bits of SHA-256       index of the VF, 12 bits
 *           first     of base and PF's node GUID,
 *           octet     8 octets each
 * </pre>
 *
 * <p>The vendor assigns the PF's node GUID, which is unique worldwide, so that only its 44-bit
 * digest can collide: among 10,000 PFs of one fabric the chance of any collision is about 3 in a
 * million (n^2/2^45). Two sites that may be joined need different bases. The base's first octet
 * should have the bit 0x02 (locally administered), so that no GUID equals a vendor's. The node GUID
 * and the port GUID of a VF are the same, as they are for a PF of these adapters.
 *
 * @param base any GUID; {@link #DEFAULT} if none was chosen
 */
public record GuidScheme(Guid base) {
  /** A locally administered GUID with the letters of the project's name. */
  public static final GuidScheme DEFAULT = new GuidScheme(new Guid(0x0200_4752_4146_5400L));

  /** The maximum number of VFs of one PF. */
  public static final int INDICES = 1 << 12;

  /**
   * The GUID of a VF.
   *
   * @param pf the PF's node GUID
   * @param index the VF's index, 0 to 4095
   */
  public Guid of(Guid pf, int index) {
    if (index < 0 || index >= INDICES) {
      throw new IllegalArgumentException("VF index " + index + " is not in 0 to " + (INDICES - 1));
    }
    byte[] digest =
        sha256(ByteBuffer.allocate(16).putLong(base.value()).putLong(pf.value()).array());
    long first44 = ByteBuffer.wrap(digest).getLong() >>> 20;
    return new Guid((base.value() & 0xff00_0000_0000_0000L) | (first44 << 12) | index);
  }

  private static byte[] sha256(byte[] input) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(input);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java runtime has SHA-256", e);
    }
  }
}
