package graft.remoting.server;

import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.health.GpuHealth;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.function.UnaryOperator;

/** A running server with two guests, {@code alice} and {@code bob}. */
final class ServerFixture implements AutoCloseable {
  static final byte[] ALICE = token((byte) 1);
  static final byte[] BOB = token((byte) 2);

  final GraftServer server;

  private ServerFixture(GraftServer server) {
    this.server = server;
  }

  static ServerFixture start(Path folder, UnaryOperator<ServerConfig.Builder> change)
      throws IOException, ServerException {
    return new ServerFixture(GraftServer.start(change.apply(config(folder)).build()));
  }

  /** A server whose device is of another kind than {@code echo}. */
  static ServerFixture start(Path folder, String device, UnaryOperator<ServerConfig.Builder> change)
      throws IOException, ServerException {
    return new ServerFixture(GraftServer.start(change.apply(config(folder, device)).build()));
  }

  /** A server that serves GPUs with this health. */
  static ServerFixture start(
      Path folder, String device, GpuHealth health, UnaryOperator<ServerConfig.Builder> change)
      throws IOException, ServerException {
    return new ServerFixture(
        GraftServer.start(change.apply(config(folder, device)).build(), health));
  }

  static ServerFixture of(ServerConfig.Builder config) throws ServerException {
    return new ServerFixture(GraftServer.start(config.build()));
  }

  static ServerConfig.Builder config(Path folder) throws IOException {
    return config(folder, "echo");
  }

  private static ServerConfig.Builder config(Path folder, String device) throws IOException {
    return withTokens(tokens(folder), device);
  }

  /**
   * A server with a tokens file that is there already. It has no spare workers, since a worker's
   * start costs more than most tests: a test that needs some sets their number.
   */
  static ServerConfig.Builder withTokens(Path tokens, String device) {
    return ServerConfig.builder(tokens, DeviceSpec.parse(device))
        .listen(ListenAddress.parse("tcp://127.0.0.1:0"))
        .spares(0)
        .spinMicros(0);
  }

  static Path tokens(Path folder) throws IOException {
    Path file = folder.resolve("tokens");
    HexFormat hex = HexFormat.of();
    Files.writeString(
        file,
        "# guests\nalice "
            + hex.formatHex(ALICE)
            + "\nbob "
            + hex.formatHex(BOB)
            + " memory=1048576\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return file;
  }

  /** Replaces the tokens file atomically with one that has a single name. */
  static void rewrite(Path folder, String name, byte[] token) throws IOException {
    Path file = folder.resolve("tokens.new");
    Files.writeString(file, name + " " + HexFormat.of().formatHex(token) + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    Files.move(file, folder.resolve("tokens"), StandardCopyOption.ATOMIC_MOVE);
  }

  static byte[] token(byte seed) {
    byte[] token = new byte[32];
    java.util.Arrays.fill(token, seed);
    return token;
  }

  ListenAddress address() {
    return server.addresses().get(0);
  }

  WireClient alice() throws IOException {
    return WireClient.session(address(), "alice", ALICE);
  }

  WireClient bob() throws IOException {
    return WireClient.session(address(), "bob", BOB);
  }

  @Override
  public void close() {
    server.close();
  }
}
