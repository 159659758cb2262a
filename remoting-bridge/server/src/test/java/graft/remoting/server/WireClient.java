package graft.remoting.server;

import graft.remoting.server.session.call.Dispatcher;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.ListenAddress;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;

/** A client of the wire protocol, written from its description and not from the server's code. */
public final class WireClient implements AutoCloseable {
  private final ByteChannel socket;
  private long sessionId;
  private byte[] sessionSecret = new byte[32];
  private byte[] tlsKey = new byte[32];

  WireClient(ByteChannel socket) {
    this.socket = socket;
  }

  /** An answer of the server. */
  record Answer(int kind, int slot, int result, Bytes payload) {}

  /** The contents of WELCOME, or of a refusal. */
  record Welcome(int status, int flags, long sessionId, Bytes proof, String message) {}

  public static WireClient connect(ListenAddress address) throws IOException {
    if (address instanceof ListenAddress.Tcp tcp) {
      return open(
          StandardProtocolFamily.INET,
          new InetSocketAddress(InetAddress.getLoopbackAddress(), tcp.port()));
    }
    return open(
        StandardProtocolFamily.UNIX,
        UnixDomainSocketAddress.of(((ListenAddress.Unix) address).path()));
  }

  /** Connects from another address of this machine, such as 127.0.0.2. */
  static WireClient connectFrom(String local, ListenAddress.Tcp address) throws IOException {
    SocketChannel socket = SocketChannel.open(StandardProtocolFamily.INET);
    socket.bind(new InetSocketAddress(local, 0));
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), address.port()));
    return new WireClient(socket);
  }

  private static WireClient open(StandardProtocolFamily family, SocketAddress address)
      throws IOException {
    SocketChannel socket = SocketChannel.open(family);
    socket.connect(address);
    if (family == StandardProtocolFamily.INET) {
      // As the client does. Else a record that follows another waits for the other end's delayed
      // acknowledgment, 40 ms.
      socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }
    return new WireClient(socket);
  }

  /** Connects and authenticates; fails unless the server accepts. */
  static WireClient session(ListenAddress address, String name, byte[] token) throws IOException {
    WireClient client = connect(address);
    Welcome welcome = client.authenticate(name, token, Dispatcher.API_HASH, 0, 0, 0);
    if (welcome.status() != 0) {
      throw new IOException("refused " + welcome.status() + ": " + welcome.message());
    }
    client.sessionId = welcome.sessionId();
    return client;
  }

  /** Another connection of this session. */
  WireClient connection(ListenAddress address, String name, int connection) throws IOException {
    return connection(address, name, sessionSecret, connection);
  }

  /** Opens a further connection of this session with a secret that is not the session's. */
  WireClient connection(ListenAddress address, String name, byte[] secret, int connection)
      throws IOException {
    WireClient client = connect(address);
    Welcome welcome =
        client.authenticate(name, secret, Dispatcher.API_HASH, 1, connection, sessionId);
    if (welcome.status() != 0) {
      throw new IOException("refused " + welcome.status() + ": " + welcome.message());
    }
    return client;
  }

  /** What another server proves to know, for a connection to this session. */
  byte[] ticket() {
    byte[] none = new byte[0];
    return TestMac.of(sessionSecret, "graft peer 1", none, none, little(0), none);
  }

  long sessionId() {
    return sessionId;
  }

  /** Connects to this session as another server does, for the client's number of a link. */
  Welcome peer(WireClient connection, String name, byte[] secret, int link) throws IOException {
    return connection.authenticate(name, secret, Dispatcher.API_HASH, 2, link, sessionId);
  }

  /** What the client proves to know; found once the server has answered with its challenge. */
  interface Secret {
    byte[] agree() throws IOException;
  }

  Welcome authenticate(
      String name, byte[] token, long apiHash, int kind, int connection, long sessionId)
      throws IOException {
    return authenticate(name, () -> token, apiHash, kind, connection, sessionId);
  }

  Welcome authenticate(
      String name, Secret secret, long apiHash, int kind, int connection, long sessionId)
      throws IOException {
    byte[] clientNonce = new byte[32];
    Arrays.fill(clientNonce, (byte) 7);
    byte[] padded = Arrays.copyOf(name.getBytes(java.nio.charset.StandardCharsets.UTF_8), 64);
    ByteBuffer hello =
        little(128)
            .putInt(0x54465247)
            .putInt(1)
            .putLong(apiHash)
            .put(clientNonce)
            .put(padded)
            .putInt(kind)
            .putInt(connection)
            .putLong(sessionId)
            .flip();
    byte[] said = bytes(hello, 48, 80);
    send(hello);
    ByteBuffer challenge = receive(64);
    if (challenge.getInt(0) != 0x54465247) {
      throw new IOException("no challenge");
    }
    if (challenge.getInt(4) != 0) {
      return welcome(receive(256));
    }
    byte[] serverNonce = bytes(challenge, 16, 32);
    ByteBuffer hash = little(8).putLong(apiHash).flip();
    byte[] token = secret.agree();
    send(
        ByteBuffer.wrap(TestMac.of(token, "graft client 1", serverNonce, clientNonce, hash, said)));
    Welcome welcome = welcome(receive(256));
    sessionSecret = TestMac.of(token, "graft session 1", clientNonce, serverNonce, hash, said);
    tlsKey =
        TestMac.of(
            (kind & 0xFFFF) == 1 ? token : sessionSecret,
            "graft tls 1",
            clientNonce,
            serverNonce,
            hash,
            said);
    if (welcome.status() == 0
        && !welcome
            .proof()
            .equals(
                Bytes.of(
                    TestMac.of(token, "graft server 1", clientNonce, serverNonce, hash, said)))) {
      throw new IOException("the server's proof is wrong");
    }
    return welcome;
  }

  /** What follows a welcome that says that the client has to wait. */
  Welcome nextWelcome() throws IOException {
    return welcome(receive(256));
  }

  /** The secret that further connections of this session prove to know. */
  byte[] sessionSecret() {
    return sessionSecret.clone();
  }

  /** The pre-shared key of TLS on the connection that was authenticated. */
  byte[] tlsKey() {
    return tlsKey.clone();
  }

  private static Welcome welcome(ByteBuffer bytes) {
    String message =
        new String(bytes(bytes, 48, 208), java.nio.charset.StandardCharsets.UTF_8)
            .split("\0", 2)[0];
    return new Welcome(
        bytes.getInt(0),
        bytes.getInt(4),
        bytes.getLong(8),
        Bytes.of(bytes(bytes, 16, 32)),
        message);
  }

  /** Sends a record and returns its answer. */
  Answer call(int function, int slot, byte[] payload) throws IOException {
    record(function, 1, slot, payload);
    return answer();
  }

  void record(int function, int flags, int slot, byte[] payload) throws IOException {
    send(
        little(16 + payload.length)
            .putInt(16 + payload.length)
            .putShort((short) function)
            .putShort((short) flags)
            .putInt(slot)
            .putInt(0)
            .put(payload)
            .flip());
  }

  Answer answer() throws IOException {
    ByteBuffer header = receive(16);
    ByteBuffer payload = receive(header.getInt(0) - 16);
    return new Answer(
        header.getShort(4),
        header.getInt(8),
        header.getInt(12),
        Bytes.of(bytes(payload, 0, payload.limit())));
  }

  void send(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      socket.write(bytes);
    }
  }

  /** Exactly that many bytes. */
  ByteBuffer receive(int length) throws IOException {
    ByteBuffer bytes = little(length);
    while (bytes.hasRemaining()) {
      if (socket.read(bytes) < 0) {
        throw new EOFException("the server closed the connection");
      }
    }
    return bytes.flip();
  }

  public static ByteBuffer little(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }

  public static byte[] bytes(ByteBuffer buffer, int from, int length) {
    byte[] bytes = new byte[length];
    buffer.get(from, bytes);
    return bytes;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
