package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * TCP connections that leave the machine are encrypted, or refused. An attacker between the two
 * ends is a relay that lets the guest authenticate itself.
 */
final class EncryptionTest {
  /** Part of the PTX that the program loads, which crosses the wire as it is without encryption. */
  private static final String PLAIN = ".visible .entry";

  /** An address that no machine has (RFC 5737), and which is not the loopback interface's. */
  private static final String AWAY = "192.0.2.1";

  @TempDir Path folder;
  private SoftwareServer server;

  @BeforeEach
  void buildTheProgram() throws Exception {
    Programs.build(folder, List.of("driver"));
  }

  @AfterEach
  void stopTheServer() throws Exception {
    if (server != null) {
      server.stop();
    }
  }

  @Test
  void aRelayReadsNothing() throws Exception {
    server = SoftwareServer.start(folder, "tcp://127.0.0.1:0");
    try (Relay relay = new Relay(server.address(), Long.MAX_VALUE)) {
      assertThat(run(relay.address(), "never").code()).isZero();
      assertThat(relay.seen()).as("without encryption").contains(PLAIN);
    }
    try (Relay relay = new Relay(server.address(), Long.MAX_VALUE)) {
      Finished program = run(relay.address(), "always");
      assertThat(program.code()).as("%s", program).isZero();
      assertThat(program.out())
          .isEqualTo(Files.readString(Path.of("src/test/resources/driver-api.txt")));
      assertThat(relay.seen()).doesNotContain(PLAIN);
    }
  }

  /** A changed byte ends the session. The program gets errors, and no other data. */
  @Test
  void aRelayChangesNothing() throws Exception {
    server = SoftwareServer.start(folder, "tcp://127.0.0.1:0");
    // The byte lies behind the authentication and TLS's handshake, within the session's records.
    try (Relay relay = new Relay(server.address(), 3_000)) {
      Finished program = run(relay.address(), "always");
      assertThat(program.code()).as("%s", program).isNotZero();
      assertThat(program.err()).contains("graft: ");
    }
    assertThat(run(server.address(), "always").code()).isZero();
  }

  /** The greeting says that TLS follows. If a relay removes that, the proofs do not fit. */
  @Test
  void aRelayCannotTurnEncryptionOff() throws Exception {
    server = SoftwareServer.start(folder, "tcp://127.0.0.1:0");
    try (Relay relay = new Relay(server.address(), 114)) {
      Finished program = run(relay.address(), "always");
      assertThat(program.code()).as("%s", program).isNotZero();
      assertThat(program.err()).contains("refused");
      assertThat(relay.seen()).doesNotContain(PLAIN);
    }
  }

  @Test
  void whatLeavesTheMachineIsEncryptedOrRefused() throws Exception {
    assumeTrue(
        System.getProperty("user.name").equals("root") && Files.exists(Path.of("/usr/sbin/ip")),
        "a network namespace needs root and ip");
    String script =
        """
        ip link set lo up && ip addr add %s/32 dev lo || exit 77
        %s serve --device software --listen tcp://%s:0 --tokens %s > serves 2> server.log &
        server=$!
        trap 'kill $server; wait $server' EXIT
        until grep -q '^serves at' serves; do kill -0 $server || { cat server.log; exit 1; }; sleep 0.1; done
        export GRAFT_SERVER=$(sed 's/^serves at //' serves)
        echo auto; ./driver > auto.out; echo $?
        echo without; LD_LIBRARY_PATH=$(pwd)/broken:$LD_LIBRARY_PATH ./driver > without.out 2> without.err; echo $?
        echo never; GRAFT_ENCRYPTION=never ./driver > never.out; echo $?
        sed 's/$/ encryption=optional/' %s > both && cat both > %s
        echo optional
        until GRAFT_ENCRYPTION=never ./driver > optional.out 2> /dev/null; do kill -0 $server || exit 1; sleep 0.1; done
        echo $?
        """
            .formatted(
                AWAY,
                SoftwareServer.GRAFT,
                AWAY,
                folder.resolve("tokens"),
                folder.resolve("tokens"),
                folder.resolve("tokens"));
    // No library can be loaded from these files, as in a guest that has none.
    Path broken = Files.createDirectory(folder.resolve("broken"));
    Files.createFile(broken.resolve("libssl.so.3"));
    Files.createFile(broken.resolve("libssl.so.1.1"));
    SoftwareServer.secret(
        folder.resolve("tokens"), SoftwareServer.NAME + " " + SoftwareServer.TOKEN);
    Map<String, String> environment =
        Map.of(
            "PATH",
            "/usr/sbin:/usr/bin:/sbin:/bin",
            "GRAFT_NAME",
            SoftwareServer.NAME,
            "GRAFT_TOKEN_FILE",
            SoftwareServer.secret(folder.resolve("token"), SoftwareServer.TOKEN).toString(),
            "LD_LIBRARY_PATH",
            Checkout.HOME.resolve("lib/client").toString());
    Finished all =
        Finished.run(
            folder,
            environment,
            List.of("unshare", "-n", "sh", "-c", script),
            Duration.ofMinutes(3));
    assertThat(all.out()).as("%s", all).isEqualTo("auto\n0\nwithout\n1\nnever\n1\noptional\n0\n");
    assertThat(folder.resolve("without.err"))
        .as("of a client without OpenSSL")
        .content()
        .contains("has to be encrypted", "libssl3", "openssl-libs");
    assertThat(all.err()).contains("connections from other machines have to be encrypted");
    assertThat(folder.resolve("auto.out"))
        .hasSameTextualContentAs(Path.of("src/test/resources/driver-api.txt"));
  }

  private Finished run(String address, String encryption) throws Exception {
    List<String> program =
        List.of(
            "env",
            "GRAFT_SERVER=" + address,
            "GRAFT_ENCRYPTION=" + encryption,
            folder.resolve("driver").toString());
    return Finished.run(folder, Map.of("PATH", "/usr/bin:/bin"), server.command(program));
  }

  /**
   * Passes connections on to a server, keeps what it sees, and changes one byte of the client's.
   */
  private static final class Relay implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
    private final int server;
    private final AtomicLong left;
    private final ByteArrayOutputStream seen = new ByteArrayOutputStream();
    private final List<Thread> threads = new ArrayList<>();

    /**
     * @param changed the place of the byte of the client's first connection that is changed
     */
    Relay(String server, long changed) throws IOException {
      this.server = URI.create(server).getPort();
      this.left = new AtomicLong(changed);
      start(this::accept);
    }

    String address() {
      return "tcp://127.0.0.1:" + listener.getLocalPort();
    }

    String seen() {
      synchronized (seen) {
        return seen.toString(StandardCharsets.ISO_8859_1);
      }
    }

    private void start(Runnable task) {
      Thread thread = new Thread(task, "relay");
      thread.setDaemon(true);
      thread.start();
      synchronized (threads) {
        threads.add(thread);
      }
    }

    private void accept() {
      try {
        while (true) {
          Socket client = listener.accept();
          Socket there = new Socket(InetAddress.getLoopbackAddress(), server);
          start(() -> pass(client, there, true));
          start(() -> pass(there, client, false));
        }
      } catch (IOException e) {
        // The relay is closed.
      }
    }

    private void pass(Socket from, Socket to, boolean isClient) {
      byte[] data = new byte[64 << 10];
      try (InputStream in = from.getInputStream();
          OutputStream out = to.getOutputStream()) {
        int count;
        while ((count = in.read(data)) > 0) {
          synchronized (seen) {
            seen.write(data, 0, count);
          }
          long at = isClient ? left.getAndAdd(-count) : -1;
          if (at >= 0 && at < count) {
            data[(int) at] ^= 1;
          }
          out.write(data, 0, count);
          out.flush();
        }
      } catch (IOException e) {
        // One of the two has closed its connection; the other one sees the end of this one.
      }
    }

    @Override
    public void close() throws IOException {
      listener.close();
    }
  }
}
