package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.session.call.Dispatcher;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.transport.NodePeer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;

/** A client on a machine that has a certificate. */
final class NodeClient implements AutoCloseable {
  /** Flags of HELLO, whose field "kind" is before them. */
  static final int ENCRYPTED = 1 << 16;

  static final int CERTIFICATE = 2 << 16;

  /** In HELLO's field "kind". */
  static final int FURTHER = 1;

  private final NativeByteChannel channel;
  private final WireClient client;

  private NodeClient(NativeByteChannel channel) {
    this.channel = channel;
    this.client = new WireClient(channel);
  }

  static NodeClient connect(ListenAddress address) throws IOException {
    return new NodeClient(NativeByteChannel.connect((ListenAddress.Tcp) address));
  }

  /** Connects from another address of this machine, such as 127.0.0.2. */
  static NodeClient connectFrom(String local, ListenAddress address) throws IOException {
    return new NodeClient(NativeByteChannel.connectFrom(local, (ListenAddress.Tcp) address));
  }

  /**
   * Makes certificates: one folder in libvirt's layout for each way in which they can be right or
   * wrong.
   */
  static void makeCertificates(Path folder) throws IOException, InterruptedException {
    run("../client/test/certificates.sh", folder.toString());
  }

  static void copy(Path from, Path to) throws IOException, InterruptedException {
    run("cp", "-a", from.toString(), to.toString());
  }

  private static void run(String... command) throws IOException, InterruptedException {
    assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
  }

  /** A tokens file with {@code alice}, who has a token, and names that have certificates. */
  static Path tokens(Path folder) throws IOException {
    return writeTokens(
        folder,
        "alice "
            + HexFormat.of().formatHex(ServerFixture.ALICE)
            + "\nnode07 certificate=node07.cluster.example\n"
            + "short certificate=node07\n"
            + "one certificate=NODE07.cluster.example max-sessions=1\n");
  }

  /** Replaces the tokens file atomically. */
  static Path writeTokens(Path folder, String lines) throws IOException {
    Path next = folder.resolve("tokens.new");
    Files.writeString(next, lines);
    Files.setPosixFilePermissions(next, PosixFilePermissions.fromString("rw-------"));
    return Files.move(
        next,
        folder.resolve("tokens"),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }

  WireClient wire() {
    return client;
  }

  NativeByteChannel channel() {
    return channel;
  }

  /** Performs the handshake of the certificates alone. */
  byte[] agree(Path certificates) throws IOException {
    return NodePeer.connect(channel.socket(), certificates, "localhost");
  }

  /** Authenticates with a certificate. */
  WireClient.Welcome enter(String name, Path certificates, int kind) throws IOException {
    return prove(name, () -> agree(certificates), kind);
  }

  /** Announces a certificate, and proves to know what is given. */
  WireClient.Welcome prove(String name, WireClient.Secret secret, int kind) throws IOException {
    return client.authenticate(
        name, secret, Dispatcher.API_HASH, kind | CERTIFICATE, HandshakeMessages.CHANNEL_SOCKET, 0);
  }

  @Override
  public void close() {
    channel.close();
  }
}
