package graft.remoting.server.protocol;

import graft.remoting.device.Memory;
import graft.remoting.server.system.AddressRange;
import graft.remoting.server.system.Bytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The four messages that open a connection, little-endian and of fixed size. Sizes and offsets are
 * in bytes.
 *
 * <pre>
 * HELLO     128  0 magic, 4 version, 8 API hash (u64), 16 client nonce[32], 48 name[64], 112 kind (u16),
 *                114 flags (u16; 1: TLS follows WELCOME; 2: TLS with certificates follows CHALLENGE, kind 0;
 *                4: the client understands status 10, kind 0; bits 8 to 11: the range of addresses in which
 *                device memory has to lie, 0 for any, kind 0),
 *                116 channel (kind 1: the purpose, kind 2: the client's number for the link),
 *                120 session id (u64, kinds 1 and 2; kind 0: the program's CUDA_DEVICE_MAX_CONNECTIONS, 1 to 32, 0 if it has
 *                none; servers up to 0.2 do not look at it)
 * CHALLENGE  64  0 magic, 4 status, 8 API hash (u64), 16 server nonce[32], 48 reserved[16]
 * PROOF      32  HMAC-SHA256(key, "graft client 1" server-nonce client-nonce API-hash name[64] kind flags channel session)
 * WELCOME   256  0 status, 4 flags (u32; 1: the worker understands streams in blocks), 8 session id (u64), 16 proof[32]: HMAC-SHA256(key, "graft server 1"
 *                client-nonce server-nonce API-hash name[64] kind flags channel session), 48 message[208]
 * </pre>
 *
 * A client with flag 4 that has to wait for a place gets WELCOME with status 10 and the reason in
 * its message, repeatedly, before the WELCOME that ends its wait.
 *
 * <p>The key is the token, or, with flag 2, what the exporter of TLS (RFC 8446, 7.5) gives for the
 * label "EXPORTER-Graft-node" without a context, 32 bytes; for a further connection (kind 1) it is
 * the session's secret, HMAC-SHA256(key, "graft session 1" client-nonce server-nonce API-hash
 * name[64] kind flags channel session) of the handshake that began the session; for a connection of
 * another server (kind 2) it is the session's ticket, HMAC-SHA256(session's secret, "graft peer
 * 1"). The pre-shared key of TLS is HMAC-SHA256(session's secret or ticket, "graft tls 1"
 * client-nonce server-nonce API-hash name[64] kind flags channel session), of each connection's own
 * handshake.
 */
public final class HandshakeMessages {
  public static final int MAGIC = 0x54465247;
  public static final int VERSION = 1;
  public static final int HELLO = 128;
  public static final int CHALLENGE = 64;
  public static final int PROOF = 32;
  public static final int WELCOME = 256;
  public static final int HASH = 8;
  public static final int NAME_AT = 48;
  public static final int NONCE = 32;
  static final int NAME = 64;
  static final int MESSAGE = 208;
  public static final int KIND_SESSION = 0;
  public static final int KIND_CONNECTION = 1;

  /** A connection of another server, for copies between a session of its own and one of this. */
  public static final int KIND_PEER = 2;

  /** The purpose of a further connection, sent in the field of the channel. */
  static final int CONNECTION_CALLBACKS = 0;

  /** A flag of HELLO: the client demands TLS. */
  private static final int FLAG_ENCRYPTED = 1;

  /** A flag of HELLO: the client has a certificate in place of a token. */
  private static final int FLAG_CERTIFICATE = 2;

  /** A flag of HELLO: the client understands {@link HandshakeStatus#WAITING}. */
  private static final int FLAG_WAITS = 4;

  /** The bits of HELLO's flags that hold the range of device memory, kind 0. */
  private static final int ADDRESSES_AT = 8;

  private static final int ADDRESSES_MASK = 0xF;

  /** The most connections that a driver makes to a GPU (CUDA programming guide). */
  private static final long MOST_GPU_CONNECTIONS = 32;

  /** A flag of WELCOME: the worker understands streams in blocks. */
  private static final int FLAG_BLOCKS = 1;

  private static final int WELCOME_FLAGS_AT = 4;

  public static final int CONNECTION_DATA = 1;
  public static final int CONNECTION_MAPPINGS = 2;
  public static final int CHANNEL_SOCKET = 0;
  public static final int CHANNEL_SHARED_MEMORY = 1;
  public static final int CHANNEL_GUEST_MEMORY = 2;
  public static final int CHANNEL_RDMA = 3;
  public static final int CHANNEL_VCHAN = 4;

  private HandshakeMessages() {}

  /** The client's first message. */
  public record Hello(
      int magic,
      int version,
      long apiHash,
      Bytes clientNonce,
      Bytes rawName,
      int kind,
      int flags,
      int channel,
      long sessionId) {
    public static Hello decode(byte[] bytes) {
      ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
      return new Hello(
          in.getInt(0),
          in.getInt(4),
          in.getLong(8),
          Bytes.of(Arrays.copyOfRange(bytes, 16, 48)),
          Bytes.of(Arrays.copyOfRange(bytes, 48, 112)),
          Short.toUnsignedInt(in.getShort(112)),
          Short.toUnsignedInt(in.getShort(114)),
          in.getInt(116),
          in.getLong(120));
    }

    public byte[] encode() {
      byte[] bytes = new byte[HELLO];
      buffer(bytes)
          .putInt(magic)
          .putInt(version)
          .putLong(apiHash)
          .put(clientNonce.array())
          .put(rawName.array())
          .putShort((short) kind)
          .putShort((short) flags)
          .putInt(channel)
          .putLong(sessionId);
      return bytes;
    }

    /**
     * Returns the greeting of a server that connects to a session of another one.
     *
     * @param link the client's number for the link
     */
    public static Hello ofPeer(
        long apiHash, Bytes nonce, String name, boolean encrypted, int link, long session) {
      return new Hello(
          MAGIC,
          HandshakeMessages.VERSION,
          apiHash,
          nonce,
          Bytes.of(padded(name)),
          KIND_PEER,
          encrypted ? FLAG_ENCRYPTED : 0,
          link,
          session);
    }

    /** Returns whether TLS follows WELCOME. */
    public boolean isEncrypted() {
      return (flags & FLAG_ENCRYPTED) != 0;
    }

    /** Returns whether the client authenticates with a certificate. */
    public boolean hasCertificate() {
      return (flags & FLAG_CERTIFICATE) != 0;
    }

    /** Returns whether the client understands that it has to wait for a place. */
    public boolean hearsOfWaits() {
      return (flags & FLAG_WAITS) != 0;
    }

    /** Returns the number of the range in which device memory has to lie. */
    public int addresses() {
      return flags >> ADDRESSES_AT & ADDRESSES_MASK;
    }

    /** Returns the program's CUDA_DEVICE_MAX_CONNECTIONS, 0 for none. */
    public int gpuConnections() {
      return kind == KIND_SESSION ? (int) sessionId : 0;
    }

    /** Returns whether a driver can make as many connections to a GPU as the program asks for. */
    public boolean hasKnownConnections() {
      return kind != KIND_SESSION || (sessionId >= 0 && sessionId <= MOST_GPU_CONNECTIONS);
    }

    /**
     * Returns whether all flags are known, and fit: a further connection proves its session's
     * secret, needs no certificate, waits for no place, and chooses no addresses.
     */
    public boolean hasKnownFlags() {
      int known = FLAG_ENCRYPTED | FLAG_CERTIFICATE | FLAG_WAITS | ADDRESSES_MASK << ADDRESSES_AT;
      return (flags & ~known) == 0
          && AddressRange.exists(addresses())
          && (kind == KIND_SESSION
              || !(hasCertificate() || hearsOfWaits() || addresses() != AddressRange.ANY));
    }

    public String name() {
      return text(rawName.array());
    }
  }

  public static byte[] challenge(HandshakeStatus status, long apiHash, byte[] serverNonce) {
    byte[] message = new byte[CHALLENGE];
    buffer(message).putInt(MAGIC).putInt(status.code()).putLong(apiHash).put(serverNonce);
    return message;
  }

  public static byte[] welcome(long sessionId, byte[] serverProof) {
    byte[] message = new byte[WELCOME];
    buffer(message).putInt(HandshakeStatus.OK.code()).putInt(0).putLong(sessionId).put(serverProof);
    return message;
  }

  /**
   * Returns a session's WELCOME which says that its worker understands streams in blocks. No proof
   * covers that.
   */
  public static Bytes offeringBlocks(Bytes welcome) {
    byte[] message = welcome.array();
    buffer(message).putInt(WELCOME_FLAGS_AT, FLAG_BLOCKS);
    return Bytes.of(message);
  }

  public static byte[] refusal(HandshakeStatus status, String message) {
    byte[] welcome = new byte[WELCOME];
    byte[] text = message.getBytes(StandardCharsets.UTF_8);
    buffer(welcome).putInt(status.code());
    System.arraycopy(text, 0, welcome, 48, Math.min(text.length, MESSAGE - 1));
    return welcome;
  }

  private static ByteBuffer buffer(byte[] message) {
    return ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Decodes NUL-padded UTF-8. */
  public static String text(byte[] padded) {
    int length = 0;
    while (length < padded.length && padded[length] != 0) {
      length++;
    }
    return new String(padded, 0, length, StandardCharsets.UTF_8);
  }

  /**
   * Writes as much of a text as fits into a zeroed field, and keeps a zero at the end of the field.
   */
  public static void write(String text, long address, int room) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    Memory.write(address, bytes, 0, Math.min(bytes.length, room - 1));
  }

  /** Encodes a name as NUL-padded UTF-8. */
  static byte[] padded(String name) {
    return Arrays.copyOf(name.getBytes(StandardCharsets.UTF_8), NAME);
  }
}
