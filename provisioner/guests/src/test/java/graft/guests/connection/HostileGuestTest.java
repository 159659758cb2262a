package graft.guests.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import graft.common.json.Json;
import graft.common.values.UserName;
import graft.guests.payload.Payload;
import graft.guests.payload.PayloadFile;
import graft.hypervisors.libvirt.GuestAgent;
import graft.hypervisors.libvirt.HostileAnswers;
import graft.hypervisors.libvirt.InterfaceAddresses;
import graft.hypervisors.libvirt.IpAddress;
import graft.hypervisors.libvirt.calls.AddressSource;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A guest whose agent answers every question that Graft asks with something hostile. Graft ends
 * with an error of its own or with a harmless value, and no word of the guest's gets onto a command
 * line of this machine.
 */
class HostileGuestTest {
  private static final int CASES = 600;
  private static final Duration SHORT = Duration.ofMillis(50);
  private static final Path KNOWN = Path.of("/var/lib/graft/a/disk.qcow2.known-hosts");

  private static Random random() {
    long seed = new Random().nextLong();
    System.out.println("HostileGuestTest: seed " + seed);
    return new Random(seed);
  }

  private static GuestConnection connection(Random random) {
    return new AgentConnection(
        new GuestAgent(
            "guest 'a'", (action, question, seconds) -> HostileAnswers.to(question, random)));
  }

  private static void assertPrintable(String text) {
    assertThat(text.chars().filter(c -> Character.isISOControl(c) && c != '\n' && c != '\t'))
        .as(text)
        .isEmpty();
  }

  /** A busy guest: the agent answers, and what it runs goes on. */
  @Test
  void aProgramThatDoesNotEndInTimeIsLateAndItsGuestAnswers() {
    GuestConnection busy =
        new AgentConnection(
            new GuestAgent(
                "guest 'a'",
                (action, question, seconds) ->
                    question.contains("guest-exec-status")
                        ? "{\"return\": {\"exited\": false}}"
                        : "{\"return\": {\"pid\": 7}}"));
    assertThatThrownBy(() -> busy.run(List.of("id"), new byte[0], SHORT))
        .isInstanceOfSatisfying(
            GuestConnectionException.class,
            e -> {
              assertThat(e.late()).isTrue();
              assertThat(e.unresponsive()).isFalse();
            })
        .hasMessageContaining("did not end within");
  }

  /** Whatever Graft does in a guest by its agent. */
  @Test
  void everyQuestionEndsWithAValueOrWithAnErrorOfGrafts() {
    Random random = random();
    Payload payload =
        new Payload(
            "a",
            List.of(
                PayloadFile.text("server = tcp://10.0.2.2:1\n", "/etc/graft/client.conf", 0644)),
            List.of(),
            List.of(),
            List.of());
    for (int i = 0; i < CASES; i++) {
      GuestConnection connection = connection(random);
      try {
        switch (random.nextInt(6)) {
          case 0 -> connection.answers(SHORT);
          case 1 -> {
            Ended ended = connection.run(List.of("true"), new byte[random.nextInt(5)], SHORT);
            assertPrintable(ended.said());
          }
          case 2 -> {
            CudaCheck check = CudaCheck.run(connection, random.nextBoolean(), SHORT);
            assertPrintable(check.said());
            assertThat(check.values()).hasSizeLessThan(100);
            check.values().forEach(HostileGuestTest::assertHarmless);
            assertThat(Json.line(check.values())).doesNotContain("\n");
          }
          case 3 ->
              assertThat(new GuestSetup(connection, "a").bring(payload, SHORT)).isNotNegative();
          case 4 -> connection.put(new ByteArrayInputStream(new byte[100]), "/x", 0600);
          default -> connection.get("/x", new FirstBytes());
        }
      } catch (GraftException e) {
        assertPrintable(e.getMessage());
        assertThat(e.getMessage().length()).isLessThan(40_000);
      } catch (IOException e) {
        assertThat(e).hasMessage(FirstBytes.ENOUGH);
      }
    }
  }

  private static void assertHarmless(String key, String value) {
    assertThat(key).matches("[a-z][a-z0-9_]{0,39}");
    if (!key.equals("result")) {
      assertThat(value.length()).isLessThan(3000);
    }
    assertPrintable(value);
  }

  /** An address is what libvirt passes on of an agent's answer: any text at all. */
  @Test
  void noWordOfTheGuestsIsAnArgumentOfSsh() {
    Random random = random();
    SshLogin login = new SshLogin(UserName.ROOT, Optional.empty(), 22, Optional.empty(), KNOWN);
    List<String> bare =
        new SshConnection(login, Optional.of(new HostAddress("192.0.2.1")))
            .arguments(List.of("true"));
    int taken = 0;
    for (int i = 0; i < 10_000; i++) {
      List<InterfaceAddresses.Address> told =
          Stream.generate(() -> address(random))
              .limit(3)
              .flatMap(text -> IpAddress.find(text).stream())
              .map(ip -> new InterfaceAddresses.Address(ip, 24))
              .toList();
      Optional<IpAddress> found =
          SshConnection.leased(
              source ->
                  source == AddressSource.AGENT
                      ? List.of(new InterfaceAddresses("eth0", Optional.empty(), told))
                      : List.of());
      if (found.isEmpty()) {
        continue;
      }
      taken++;
      List<String> arguments =
          new ArrayList<>(
              new SshConnection(login, found.map(HostAddress::of)).arguments(List.of("true")));
      assertThat(arguments.get(arguments.indexOf("--") + 1))
          .matches("[0-9]{1,3}(\\.[0-9]{1,3}){3}");
      arguments.set(arguments.indexOf("--") + 1, "192.0.2.1");
      assertThat(arguments).as("all else is Graft's own").isEqualTo(bare);
    }
    assertThat(taken).as("some of them are addresses").isPositive();
  }

  /** A hostile text, an address, or one in the other. */
  private static String address(Random random) {
    String good = random.nextInt(300) + "." + random.nextInt(300) + ".2." + random.nextInt(300);
    return switch (random.nextInt(5)) {
      case 0 -> good;
      case 1 -> good + HostileAnswers.text(random);
      case 2 -> HostileAnswers.text(random) + good;
      case 3 -> "::" + HostileAnswers.text(random);
      default -> HostileAnswers.text(random);
    };
  }

  @Test
  void aGuestThatWritesWithoutAnEndIsKeptInPart() {
    KeptOutput kept = new KeptOutput();
    byte[] piece = new byte[1024 * 1024];
    for (int i = 0; i < 40; i++) {
      kept.write(piece, 0, piece.length);
    }
    kept.write(7);
    assertThat(kept.size()).isEqualTo(KeptOutput.MOST);
    assertThat(kept.isTruncated()).isTrue();
    assertThat(new Ended(0, kept, new ByteArrayOutputStream(), true).said().length())
        .isLessThan(200_000);
  }

  @Test
  void whatAGuestSaysOfItsDeviceIsOnlyWhatTheProgramPrints() {
    String printed =
        "device=Graft \u001b[2J\u009b31m\nresult=ok\nguest name=bob\nGUEST=bob\n../x=1\n=2\n"
            + "x=1\n".repeat(1000);
    byte[] bytes = printed.getBytes(StandardCharsets.UTF_8);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(bytes);
    GuestConnection connection = new Told(new Ended(0, out, new ByteArrayOutputStream(), false));
    Map<String, String> values = CudaCheck.run(connection, false, SHORT).values();
    assertThat(values).containsOnlyKeys("device", "result", "x");
    assertThat(values.get("device")).isEqualTo("Graft \\u001b[2J\\u009b31m");
  }

  /** A guest that says one thing. */
  private record Told(Ended ended) implements GuestConnection {
    @Override
    public boolean answers(Duration timeout) {
      return true;
    }

    @Override
    public Ended run(List<String> words, byte[] input, Duration timeout) {
      return ended;
    }

    @Override
    public GuestProcess start(List<String> words, Optional<InputStream> input) {
      throw new AssertionError("nothing is started");
    }

    @Override
    public TerminalSession start(List<String> words, LocalTerminal terminal) {
      throw new AssertionError("nothing is started");
    }

    @Override
    public void put(InputStream content, String path, int mode) {}

    @Override
    public void get(String path, OutputStream to) {}
  }

  /** Where a file without an end goes. */
  private static final class FirstBytes extends OutputStream {
    private static final String ENOUGH = "enough";
    private long written;

    @Override
    public void write(int one) throws IOException {
      if (++written > 300_000) {
        throw new IOException(ENOUGH);
      }
    }
  }
}
