package graft.hypervisors.kvm;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.program.CurrentUser;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a guest on a closed network reaches, frame by frame. Needs libslirp, as QEMU does. */
@Tag("integration")
class UsernetTest {
  private static final int SYN_ACK = 0x12;
  private static final int RESET_ACK = 0x14;

  @TempDir Path folder;
  private ServerSocket server;
  private ServerSocket other;
  private Process program;
  private int port;

  @BeforeEach
  void start() throws Exception {
    InetAddress loopback = InetAddress.getLoopbackAddress();
    server = new ServerSocket(0, 50, loopback);
    other = new ServerSocket(0, 50, loopback);
    try (ServerSocket free = new ServerSocket(0, 50, loopback)) {
      port = free.getLocalPort();
    }
    Path pidFile = folder.resolve("pid");
    program =
        new ProcessBuilder(
                UsernetProgram.find()
                    .orElseThrow()
                    .serve(port, "127.0.0.1:" + server.getLocalPort(), 7799, pidFile))
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
    until("it writes its pid file", () -> Files.exists(pidFile) && Files.size(pidFile) > 0);
  }

  @AfterEach
  void stop() throws Exception {
    program.destroy();
    program.waitFor();
    server.close();
    other.close();
  }

  @Test
  void theServersPortAnswers() throws Exception {
    try (FrameCard card = new FrameCard(port).introduced()) {
      for (int i = 0; i < 20; i++) {
        assertThat(card.connect("10.0.2.2", 7799)).isEqualTo(SYN_ACK);
      }
      server.setSoTimeout(20_000);
      for (int i = 0; i < 20; i++) {
        server.accept().close();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "10.0.2.2",
        "10.0.2.1",
        "10.0.2.3",
        "127.0.0.1",
        "1.1.1.1",
        "169.254.169.254",
        "0.0.0.0"
      })
  void nothingElseAnswers(String address) throws Exception {
    try (FrameCard card = new FrameCard(port).introduced()) {
      List<Integer> ports = new ArrayList<>(List.of(22, 53, 80, 7798, other.getLocalPort()));
      ports.add(server.getLocalPort()); // the server has another port for guests
      ports.add(port);
      if (!address.equals("10.0.2.2")) {
        ports.add(7799);
      }
      for (int closed : ports) {
        assertThat(card.connect(address, closed))
            .as("%s port %d", address, closed)
            .isIn(RESET_ACK, 0);
      }
    }
  }

  @Test
  void onlyTcpPasses() throws Exception {
    byte[] query = new byte[40];
    try (FrameCard card = new FrameCard(port).introduced()) {
      assertThat(card.isIgnored(card.udp("10.0.2.3", 53, query))).as("DNS").isTrue();
      assertThat(card.isIgnored(card.udp("10.0.2.2", 7799, query))).as("UDP").isTrue();
      assertThat(card.isIgnored(card.udp("1.1.1.1", 53, query))).as("DNS elsewhere").isTrue();
      assertThat(card.isIgnored(card.udp("10.0.2.1", 69, query))).as("TFTP").isTrue();
      assertThat(card.isIgnored(card.ping("1.1.1.1"))).as("ping").isTrue();
      assertThat(card.isIgnored(card.routerSolicitation())).as("IPv6").isTrue();
      assertThat(card.connect("10.0.2.2", 7799)).isEqualTo(SYN_ACK);
    }
  }

  @Test
  void theProcessThatReadsFramesIsSealed() throws Exception {
    try (FrameCard card = new FrameCard(port).introduced()) {
      ProcessHandle sealed = program.children().findFirst().orElseThrow();
      Path process = Path.of("/proc", String.valueOf(sealed.pid()));
      assertThat(Files.readAllLines(process.resolve("status")))
          .contains("CapEff:\t0000000000000000", "CapPrm:\t0000000000000000")
          .contains("NoNewPrivs:\t1", "Seccomp:\t2")
          .noneMatch(line -> line.startsWith("Uid:\t0\t"));
      // Only root may read the links of a process that cannot be dumped.
      if (CurrentUser.isRoot()) {
        assertThat(Files.readSymbolicLink(process.resolve("ns/net")))
            .isNotEqualTo(Files.readSymbolicLink(Path.of("/proc/self/ns/net")));
        assertThat(Files.readSymbolicLink(process.resolve("root")).toString())
            .contains("graft-usernet.");
        try (var open = Files.list(process.resolve("fd"))) {
          assertThat(open.map(fd -> Integer.parseInt(fd.getFileName().toString())))
              .as("standard streams, the card, /dev/null")
              .allMatch(fd -> fd <= 4);
        }
      }
      assertThat(card.connect("10.0.2.2", 7799)).isEqualTo(SYN_ACK);
    }
  }

  @Test
  void aHostileCardEndsNoOther() throws Exception {
    Random random = new Random(1);
    try (FrameCard good = new FrameCard(port).introduced()) {
      for (int length : new int[] {-1, Integer.MAX_VALUE, 70_000}) {
        try (FrameCard wrong = new FrameCard(port)) {
          wrong.sendRaw(length, new byte[16]);
          assertThat(wrong.isClosed()).as("a frame of %d bytes", length).isTrue();
        }
      }
      for (int round = 0; round < 20; round++) {
        try (FrameCard hostile = new FrameCard(port).introduced()) {
          for (int i = 0; i < 500; i++) {
            byte[] data = new byte[random.nextInt(120)];
            random.nextBytes(data);
            hostile.send(
                random.nextBoolean()
                    ? data
                    : hostile.ipv4("10.0.2.2", random.nextInt(4) == 0 ? 17 : 6, data));
          }
        } catch (IOException e) {
          // its own process has ended
        }
      }
      assertThat(good.connect("10.0.2.2", 7799)).isEqualTo(SYN_ACK);
    }
    try (FrameCard next = new FrameCard(port).introduced()) {
      assertThat(next.connect("10.0.2.2", 7799)).isEqualTo(SYN_ACK);
    }
    assertThat(folder.resolve("log")).as("a guest fills no log").isEmptyFile();
  }

  @Test
  void aServerThatIsNotThereEndsTheConnectionAlone() throws Exception {
    server.close();
    try (FrameCard card = new FrameCard(port).introduced()) {
      assertThat(card.connect("10.0.2.2", 7799)).isIn(SYN_ACK, RESET_ACK);
      assertThat(program.isAlive()).isTrue();
      assertThat(card.connect("10.0.2.2", 7798)).isEqualTo(RESET_ACK);
    }
  }

  @Test
  void cardsGoWithTheProgram() throws Exception {
    try (FrameCard card = new FrameCard(port).introduced()) {
      program.destroy();
      program.waitFor();
      assertThat(card.isClosed()).isTrue();
    }
    assertThat(folder.resolve("pid")).doesNotExist();
  }

  @Test
  void theCommandLineIsChecked() throws Exception {
    String path = UsernetProgram.find().orElseThrow().path().toString();
    for (List<String> wrong :
        List.of(
            List.of(path),
            List.of(path, "serve"),
            List.of(path, "serve", "--listen", "127.0.0.1:0"),
            List.of(path, "serve", "--listen", "x"),
            List.of(path, "serve", "--listen"),
            List.of(path, "--stack"))) {
      Process process = new ProcessBuilder(wrong).redirectErrorStream(true).start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor()).as("%s: %s", wrong, said).isEqualTo(2);
      assertThat(said).contains("graft-usernet: not understood: ", "example: ");
    }
  }

  /** What a test waits for. */
  private interface Condition {
    boolean holds() throws IOException;
  }

  private void until(String what, Condition condition) throws Exception {
    long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
    while (!condition.holds()) {
      assertThat(program.isAlive())
          .as(what + ": " + Files.readString(folder.resolve("log")))
          .isTrue();
      assertThat(System.nanoTime()).as(what).isLessThan(deadline);
      Thread.onSpinWait();
    }
  }
}
