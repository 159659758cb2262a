package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.LogBudget;
import graft.remoting.server.control.WorkerLog;
import graft.remoting.server.exchange.ContentExchange;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.system.Bytes;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A compromised worker sends messages to the server. Others are not affected. */
@Timeout(120)
class HostileWorkerTest {
  @TempDir static Path folder;
  private static ServerFixture fixture;

  @BeforeAll
  static void start() throws Exception {
    fixture = ServerFixture.start(folder, "hostile", config -> config.spares(2));
    assumeTrue(
        fixture.server.isolation().has("mounts"), fixture.server.isolation()::describeMissing);
  }

  @AfterAll
  static void stop() {
    fixture.close();
  }

  private static HostileClient alice() throws IOException {
    return HostileClient.session(fixture.address(), "alice", ServerFixture.ALICE);
  }

  private static HostileClient bob() throws IOException {
    return HostileClient.session(fixture.address(), "bob", ServerFixture.BOB);
  }

  /** Sends a message, and goes on until the server has killed the worker. */
  private static void assertEndedBy(byte[] packet) throws Exception {
    try (HostileClient bob = bob()) {
      HostileClient alice = alice();
      assertThatThrownBy(
              () -> {
                alice.say(packet);
                while (true) {
                  alice.attempt("see /tmp");
                }
              })
          .isInstanceOf(IOException.class);
      alice.close();
      assertThat(bob.attempt("write /tmp/mine")).isEqualTo("DONE");
    }
  }

  @Test
  void itCannotBecomeASpareAgainAndGetASecondGuest() throws Exception {
    assertEndedBy(new ControlMessage.Ready("hostile", "").encode());
    assertEndedBy(new ControlMessage.Failed("it failed").encode());
  }

  @Test
  void whatOnlyTheServerSaysIsNotHeard() throws Exception {
    assertEndedBy(new ControlMessage.Shared(Bytes.NONE).encode());
    assertEndedBy(new ControlMessage.EndSession("the worker wants so").encode());
    assertEndedBy(
        new ControlMessage.AddConnection(
                0, Bytes.of(new byte[HandshakeMessages.WELCOME]), Bytes.of(new byte[0]))
            .encode());
    assertEndedBy(new ControlMessage.LeaseGranted().encode());
  }

  @Test
  void packetsThatCannotBeEndIt() throws Exception {
    for (byte[] packet :
        List.of(
            new byte[] {0},
            new byte[] {'U', 1},
            new byte[] {'E', (byte) 0xFF, (byte) 0xFF, 1},
            new byte[] {'E', 0, 1, (byte) 0x80},
            new byte[] {'G', 0, 32, 1},
            new byte[ControlMessage.MAX + 1],
            new ControlMessage.RegionUse(1, -1).encode(),
            new ControlMessage.Used(-1, 0, 0, 0, 0, 0).encode())) {
      assertEndedBy(packet);
    }
  }

  @Test
  void randomPacketsHurtNobody() throws Exception {
    Random random = new Random(3);
    byte[] kinds = "RFUMESLG?kcfHAT".getBytes(StandardCharsets.US_ASCII);
    try (HostileClient bob = bob()) {
      for (int i = 0; i < 12; i++) {
        HostileClient alice = alice();
        try {
          for (int j = 0; j < 200; j++) {
            byte[] packet = new byte[1 + random.nextInt(200)];
            random.nextBytes(packet);
            packet[0] = kinds[random.nextInt(kinds.length)];
            alice.say(packet);
          }
        } catch (IOException e) {
          // The worker was killed.
        }
        alice.close();
      }
      assertThat(bob.attempt("write /tmp/mine")).isEqualTo("DONE");
    }
  }

  /** The server answers each request for code, and looks at the page of a session that asks. */
  private static Stream<ControlMessage> questions() {
    return Stream.of(
        new ControlMessage.KnownContents(ContentExchange.Kind.DATA), new ControlMessage.AskLease());
  }

  @ParameterizedTest
  @MethodSource("questions")
  void oneThatAsksAndDoesNotListenIsNotWaitedFor(ControlMessage asked) throws Exception {
    try (HostileClient bob = bob()) {
      HostileClient alice = alice();
      byte[] question = asked.encode();
      try {
        for (int i = 0; i < 20_000; i++) {
          alice.say(question);
        }
      } catch (IOException e) {
        // The worker was killed.
      }
      assertThat(bob.attempt("write /tmp/mine")).isEqualTo("DONE");
      alice().close();
      alice.close();
    }
  }

  @Test
  void whatItSaysForTheLogIsText() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte('E');
      out.writeUTF("over\nsession end: name=bob\u001b[2J" + "x".repeat(5000));
    }
    ControlMessage.Ended ended = (ControlMessage.Ended) ControlMessage.decode(bytes.toByteArray());
    assertThat(ended.reason()).startsWith("over?session end: name=bob?[2Jx").hasSize(1000);
  }

  @Test
  void itsLogIsLimited() throws Exception {
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    List<byte[]> lines = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      lines.add(("line " + i + " " + "y".repeat(100) + "\n").getBytes(StandardCharsets.UTF_8));
    }
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] line : lines) {
      all.writeBytes(line);
    }
    LogBudget budget = new LogBudget();
    WorkerLog.run(
        new java.io.ByteArrayInputStream(all.toByteArray()),
        new java.io.PrintStream(log, true, StandardCharsets.UTF_8),
        "worker 1",
        () -> budget);
    assertThat(log.toString(StandardCharsets.UTF_8))
        .startsWith("line 0 yy")
        .contains("worker 1 exceeded the limit of its log: ")
        .hasSizeLessThan(70_000);
  }
}
