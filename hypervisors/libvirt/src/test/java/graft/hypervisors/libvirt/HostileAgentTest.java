package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import com.fasterxml.jackson.databind.ObjectMapper;
import graft.hypervisors.libvirt.calls.AgentException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A guest whose agent violates its protocol in every reply. For each reply, Graft gets a value of
 * the right kind or an {@link AgentException} that can be printed safely.
 */
class HostileAgentTest {
  private static final int CASES = 2000;

  private static AgentException refusal(ThrowingCall call) {
    List<AgentException> caught = new ArrayList<>();
    assertThatExceptionOfType(AgentException.class)
        .isThrownBy(call::run)
        .satisfies(caught::add)
        .satisfies(e -> assertThat(e.unresponsive()).isFalse());
    return caught.get(0);
  }

  /** A call that sends a request to the agent. */
  interface ThrowingCall {
    void run() throws IOException;
  }

  /** An agent that gives these replies in order and repeats the last one without end. */
  private static GuestAgent agent(String... answers) {
    int[] next = {0};
    return new GuestAgent(
        "guest 'a'",
        (action, question, seconds) -> answers[Math.min(next[0]++, answers.length - 1)]);
  }

  static List<String> noAnswers() {
    List<String> answers =
        new ArrayList<>(
            List.of("", "null", "[]", "7", "\"x\"", "{}", "{\"error\": {}}", "{\"return\":", "}{"));
    answers.add("{\"return\": " + "[".repeat(100_000));
    answers.add("{\"return\": " + "{\"a\":".repeat(5000) + "1" + "}".repeat(5000) + "}");
    answers.add("{\"return\": 1" + "0".repeat(1_000_000) + "}");
    answers.add("\u001b]0;owned\u0007 not JSON");
    answers.add("{\"nothing\": \"\\u001b]0;owned\\u0007" + "x".repeat(1_000_000) + "\"}");
    return answers;
  }

  @ParameterizedTest
  @MethodSource("noAnswers")
  void whatIsNoAnswerIsRefusedInAFewPlainWords(String answer) {
    GuestAgent agent = agent(answer);
    for (ThrowingCall call :
        List.<ThrowingCall>of(
            () -> agent.ping(Duration.ofSeconds(1)),
            () -> agent.exec(AgentCommand.of("true")),
            () -> agent.readFile("/x"),
            () -> agent.writeFile("/x", new byte[10]))) {
      if (answer.startsWith("{\"return\": 1")) {
        continue; // a ping accepts a number; the random test below covers the other calls
      }
      assertThat(refusal(call).getMessage())
          .doesNotContain("\u001b", "\u0007")
          .hasSizeLessThan(1000);
    }
  }

  @Test
  void aFolderThatIsNoneIsRefusedInAFewPlainWords() {
    String text = "\u001b]0;owned\u0007" + "x".repeat(1_000_000);
    for (String field : List.of("out-data", "err-data")) {
      String data = Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII));
      GuestAgent agent =
          agent(
              "{\"return\": {\"pid\": 7}}",
              "{\"return\": {\"exited\": true, \"exitcode\": 0, \"%s\": \"%s\"}}"
                  .formatted(field, data));
      assertThat(refusal(() -> agent.start(List.of("true"), Optional.empty())).getMessage())
          .contains("no folder for its output could be made")
          .doesNotContain("\u001b", "\u0007")
          .hasSizeLessThan(1000);
    }
  }

  static List<String> noProcesses() {
    return List.of(
        "{}",
        "[]",
        "null",
        "\"1\"",
        "{\"pid\": \"1\"}",
        "{\"pid\": 1.5}",
        "{\"pid\": 1e400}",
        "{\"pid\": -1}",
        "{\"pid\": 0}",
        "{\"pid\": 99999999999999999999999}",
        "{\"pid\": {\"pid\": 1}}",
        "{\"pid\": [1]}",
        "{\"pid\": null}",
        "{\"pid\": true}");
  }

  @ParameterizedTest
  @MethodSource("noProcesses")
  void aProcessIsANumber(String answer) {
    GuestAgent agent = agent("{\"return\": " + answer + "}");
    assertThat(refusal(() -> agent.exec(AgentCommand.of("true")))).hasMessageContaining("'pid'");
  }

  static List<String> noEnds() {
    return List.of(
        "{}",
        "[]",
        "\"exited\"",
        "{\"exited\": \"true\"}",
        "{\"exited\": 1}",
        "{\"exited\": null}",
        "{\"exited\": true, \"exitcode\": \"0\"}",
        "{\"exited\": true, \"exitcode\": null}",
        "{\"exited\": true, \"exitcode\": 1e99}",
        "{\"exited\": true, \"exitcode\": 4294967296}",
        "{\"exited\": true, \"signal\": [9]}",
        "{\"exited\": true, \"out-data\": \"***\"}",
        "{\"exited\": true, \"out-data\": \"A\"}",
        "{\"exited\": true, \"out-data\": 1234}",
        "{\"exited\": true, \"err-data\": [\"AAAA\"]}",
        "{\"exited\": true, \"err-data\": \"AA\\nAA\"}");
  }

  @ParameterizedTest
  @MethodSource("noEnds")
  void theEndOfAProgramIsAsTheProtocolSays(String answer) {
    GuestAgent agent = agent("{\"return\": {\"pid\": 5}}", "{\"return\": " + answer + "}");
    refusal(() -> agent.exec(AgentCommand.of("true")));
  }

  /** The program ends, and the one that writes its input never does. */
  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void anAgentThatNeverSaysThatInputWasTakenHoldsNobodyUp() throws Exception {
    AtomicLong processes = new AtomicLong();
    AgentLine line =
        (action, question, seconds) -> {
          if (question.contains("guest-exec-status")) {
            boolean writes = question.contains("\"pid\":3}");
            String folder =
                Base64.getEncoder().encodeToString("/tmp/x".getBytes(StandardCharsets.US_ASCII));
            return "{\"return\": {\"exited\": %b, \"exitcode\": 0, \"out-data\": \"%s\"}}"
                .formatted(!writes, folder);
          } else if (question.contains("guest-exec")) {
            return "{\"return\": {\"pid\": %d}}".formatted(processes.incrementAndGet());
          }
          return question.contains("guest-file-open") ? "{\"return\": 7}" : "{\"return\": {}}";
        };
    AgentProcess process =
        new GuestAgent("guest 'a'", line)
            .start(List.of("true"), Optional.of(new ByteArrayInputStream(new byte[10])));
    while (processes.get() < 3) {
      Thread.onSpinWait();
    }
    assertThat(process.await(new Limited(), new Limited(), Duration.ofSeconds(50))).isZero();
  }

  @Test
  void outputOfAnyBytesIsOutput() {
    String status = "{\"exited\": true, \"exitcode\": 3, \"out-data\": \"/wD+gA==\"}";
    AgentResult ended =
        agent("{\"return\": {\"pid\": 5}}", "{\"return\": " + status + "}")
            .exec(AgentCommand.of("true"));
    assertThat(ended.exitCode()).hasValue(3);
    assertThat(ended.output()).containsExactly(0xff, 0, 0xfe, 0x80);
    assertThat(ended.outputText()).contains("\ufffd");
  }

  @Test
  void aFileIsOpenUnderANumber() {
    for (String handle : List.of("{}", "\"7\"", "1.5", "null", "[7]", "1e300", "{\"h\": 7}")) {
      GuestAgent agent = agent("{\"return\": " + handle + "}");
      assertThat(refusal(() -> agent.readFile("/x"))).hasMessageContaining("no number for the");
    }
  }

  @Test
  void noMoreIsWrittenThanWasSent() {
    for (String count : List.of("11", "0", "-5", "2147483648", "1e9", "\"10\"", "null", "{}")) {
      GuestAgent agent = agent("{\"return\": 7}", "{\"return\": {\"count\": " + count + "}}");
      assertThat(refusal(() -> agent.writeFile("/x", new byte[10])))
          .hasMessageContaining("'count'");
    }
  }

  @Test
  void aFileThatNeverEndsAndHoldsNothingIsAtItsEnd() {
    GuestAgent agent =
        agent("{\"return\": 7}", "{\"return\": {\"count\": 5, \"eof\": false, \"buf-b64\": \"\"}}");
    assertTimeout(
        Duration.ofMinutes(1), () -> assertThat(agent.readFile("/proc/endless")).isEmpty());
  }

  /** Random replies, and correct replies with random parts. */
  @Test
  void whateverItAnswersThereIsAValueOrARefusal() {
    long seed = new Random().nextLong();
    System.out.println("HostileAgentTest: seed " + seed);
    Random random = new Random(seed);
    ObjectMapper json = new ObjectMapper();
    for (int i = 0; i < CASES; i++) {
      GuestAgent agent =
          new GuestAgent(
              "guest 'a'", (action, question, seconds) -> HostileAnswers.to(question, random));
      ThrowingCall call =
          switch (random.nextInt(6)) {
            case 0 -> () -> agent.ping(Duration.ofSeconds(1));
            case 1 ->
                () -> {
                  AgentResult ended =
                      agent.exec(AgentCommand.of("true").withTimeout(Duration.ofMillis(20)));
                  assertThat(ended.output()).isNotNull();
                  assertThat(json.writeValueAsString(ended.outputText())).isNotNull();
                };
            case 2 -> () -> agent.readFile("/x", new Limited());
            case 3 ->
                () -> {
                  AgentTerminal terminal = new AgentTerminal("xterm", () -> TerminalSize.USUAL);
                  InputStream typed = new ByteArrayInputStream(new byte[random.nextInt(300)]);
                  agent
                      .start(List.of("true"), typed, terminal)
                      .await(new Limited(), new Limited(), Duration.ofMillis(20));
                };
            default -> () -> agent.writeFile("/x", new byte[random.nextInt(300)]);
          };
      try {
        call.run();
      } catch (AgentException e) {
        assertThat(e.getMessage().chars().filter(c -> c < 32 && c != '\n' && c != '\t'))
            .as("case %d of seed %d: %s", i, seed, e.getMessage())
            .isEmpty();
      } catch (EnoughException e) {
        // the file never ends, so that the limited output stopped the copy
      } catch (IOException | RuntimeException | StackOverflowError e) {
        throw new AssertionError("case " + i + " of seed " + seed, e);
      }
    }
  }

  /** An output that fails after a limited number of bytes. */
  private static final class Limited extends ByteArrayOutputStream {
    @Override
    public synchronized void write(byte[] bytes, int offset, int length) {
      if (count + length > 100_000) {
        throw new EnoughException();
      }
      super.write(bytes, offset, length);
    }

    @Override
    public void write(byte[] bytes) {
      write(bytes, 0, bytes.length);
    }
  }

  private static final class EnoughException extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  @Test
  void theAnswersAreOfEveryKind() {
    Random random = new Random(1);
    long kinds =
        IntStream.range(0, 2000)
            .mapToObj(i -> HostileAnswers.to("{\"execute\":\"guest-exec-status\"}", random))
            .map(text -> text.replaceAll("[^\\[\\]{}\":,]", ""))
            .distinct()
            .count();
    assertThat(kinds).isGreaterThan(100);
  }
}
