package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A line of the tokens file that is wrong takes the access of its own guest, and of nobody else.
 */
@Timeout(120)
@Execution(ExecutionMode.CONCURRENT)
class WrongTokensTest {
  private static final String ALICE = line("alice", ServerFixture.ALICE);
  private static final String BOB = line("bob", ServerFixture.BOB);

  /** The server looks at the file every 200 ms. */
  private static final long SEVERAL_TURNS = 1_000_000_000L;

  @TempDir Path folder;

  @BeforeEach
  void bothMayCome() throws IOException {
    write(ALICE, BOB);
  }

  private static String line(String name, byte[] token) {
    return name + " " + HexFormat.of().formatHex(token);
  }

  /** Replaces the file as a whole, as its writers do. */
  private void write(byte[] text) throws IOException {
    Path file = folder.resolve("tokens.new");
    Files.write(file, text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    Files.move(file, folder.resolve("tokens"), StandardCopyOption.ATOMIC_MOVE);
  }

  private void write(String... lines) throws IOException {
    write(String.join("\n", lines).getBytes(StandardCharsets.UTF_8));
  }

  private AttackedServer start() throws IOException {
    return AttackedServer.start(folder, "echo", "--spare", "1");
  }

  private static WireClient session(AttackedServer server, String name, byte[] token)
      throws IOException {
    return WireClient.session(server.address(), name, token);
  }

  private static void assertWorks(WireClient client) throws IOException {
    byte[] said = {1, 2, 3, 4, 5, 6, 7, 8};
    assertThat(client.call(EchoBackend.ECHO, 1, said).payload().array()).isEqualTo(said);
  }

  private static void assertBobComes(AttackedServer server) throws IOException {
    try (WireClient bob = session(server, "bob", ServerFixture.BOB)) {
      assertWorks(bob);
    }
  }

  private static void assertAliceIsRefused(AttackedServer server) {
    assertThatThrownBy(() -> session(server, "alice", ServerFixture.ALICE).close())
        .hasMessageContaining("refused 3");
  }

  private static long count(AttackedServer server, String text) throws IOException {
    return server.log().lines().filter(line -> line.contains(text)).count();
  }

  private static void awaitInLog(AttackedServer server, String text) throws Exception {
    while (count(server, text) == 0) {
      Thread.sleep(20);
    }
  }

  @Test
  void aSettingOfALaterVersionRefusesItsGuestAloneAndIsNamedOnceAChange() throws Exception {
    write("# guests", ALICE + " colour=red", BOB);
    try (AttackedServer server = start()) {
      String wrong = "tokens:2: the setting colour= is unknown or has a wrong value (alice gets";
      assertThat(count(server, wrong)).isEqualTo(1);
      for (int i = 0; i < 5; i++) {
        assertAliceIsRefused(server);
        assertBobComes(server);
      }
      assertThat(count(server, wrong)).isEqualTo(1);

      write("# guests", "", ALICE + " colour=red memory=lots", BOB);
      String next =
          "tokens:3: the setting colour= is unknown or has a wrong value, the setting memory=";
      awaitInLog(server, next);
      assertAliceIsRefused(server);
      assertBobComes(server);
      assertThat(count(server, next)).isEqualTo(1);

      write(ALICE, BOB);
      session(server, "alice", ServerFixture.ALICE).close();
      assertThat(server.log())
          .doesNotContain(HexFormat.of().formatHex(ServerFixture.ALICE))
          .doesNotContain("lots");
    }
  }

  @Test
  void aSessionGoesOnWhenItsLineBecomesWrongAndEndsWhenTheLineIsRemoved() throws Exception {
    try (AttackedServer server = start();
        WireClient alice = session(server, "alice", ServerFixture.ALICE);
        WireClient bob = session(server, "bob", ServerFixture.BOB)) {
      write(ALICE + " colour=red", BOB);
      awaitInLog(server, "tokens:1: the setting colour=");
      assertWorks(alice);
      assertAliceIsRefused(server);

      write("alice token", "alice token", "al=ice x", BOB);
      awaitInLog(server, "tokens:2: the name alice is there twice");
      assertWorks(alice);

      write(BOB, "carol");
      assertThatThrownBy(() -> alice.receive(1)).isInstanceOf(IOException.class);
      assertWorks(bob);
    }
  }

  @Test
  void aRotatedTokenEndsEarlierSessionsAlsoInALineOfALaterVersion() throws Exception {
    byte[] fresh = ServerFixture.token((byte) 7);
    try (AttackedServer server = start();
        WireClient alice = session(server, "alice", ServerFixture.ALICE);
        WireClient bob = session(server, "bob", ServerFixture.BOB)) {
      write(line("alice", fresh) + " sessions=own colour=red", BOB);
      assertThatThrownBy(() -> alice.receive(1)).isInstanceOf(IOException.class);
      assertWorks(bob);
    }
  }

  @Test
  void aLineThatExpiresEndsItsSessionsWithoutAChangeOfTheFile() throws Exception {
    try (AttackedServer server = start();
        WireClient alice = session(server, "alice", ServerFixture.ALICE);
        WireClient bob = session(server, "bob", ServerFixture.BOB)) {
      assertWorks(alice);
      long end = Instant.now().getEpochSecond() + 2;
      write(ALICE + " expires=" + end, BOB);
      assertThatThrownBy(() -> alice.receive(1)).isInstanceOf(IOException.class);
      assertThat(Instant.now().getEpochSecond()).isGreaterThanOrEqualTo(end);
      assertAliceIsRefused(server);
      assertWorks(bob);
    }
  }

  @Test
  void aFileThatIsNoTextEndsNoSessionAndIsReportedOnce() throws Exception {
    try (AttackedServer server = start();
        WireClient alice = session(server, "alice", ServerFixture.ALICE)) {
      write(new byte[] {(byte) 0xff, (byte) 0xfe, 0, 1});
      awaitInLog(server, "tokens is not UTF-8 text");
      long end = System.nanoTime() + SEVERAL_TURNS;
      while (System.nanoTime() < end) {
        assertWorks(alice);
      }
      assertThat(count(server, "tokens is not UTF-8 text")).isEqualTo(1);
      write(ALICE, BOB);
      assertBobComes(server);
    }
  }

  /** No line, whatever is in it, stops the lines beside it. */
  @Test
  void linesOfAnyFormLeaveTheOthersTheirAccess() throws Exception {
    Random random = new Random(1);
    write(noise(random), BOB, noise(random));
    try (AttackedServer server = start()) {
      for (int i = 0; i < 20; i++) {
        assertBobComes(server);
        write(noise(random), BOB, noise(random));
      }
      server.assertNothingCrashed();
    }
  }

  private static String noise(Random random) {
    List<String> words =
        List.of(
            "alice",
            "=",
            "memory=",
            "memory=9999999999999999999",
            "class=",
            "compute=50",
            "class=best-effort",
            "device=-1",
            "region=x",
            "\t",
            "\u0000",
            "#",
            "\u00e4",
            "x".repeat(300),
            HexFormat.of().formatHex(ServerFixture.ALICE));
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 200; i++) {
      text.append(words.get(random.nextInt(words.size())))
          .append(random.nextInt(4) == 0 ? "\n" : " ");
    }
    return text.append('\n').toString();
  }
}
