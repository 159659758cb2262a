package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import graft.hypervisors.libvirt.calls.AgentException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Programs whose output is read while they run, with an agent of this machine. */
@Timeout(120)
class AgentProcessTest {
  private static final Duration LONG = Duration.ofMinutes(1);

  private final LocalAgent line = new LocalAgent();
  private final GuestAgent agent = new GuestAgent("guest 'a'", line);
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @AfterEach
  void nothingIsLeft() {
    assertThat(line.open()).as("files that the agent has open").isZero();
    assertThat(new File("/tmp").list((folder, name) -> name.startsWith("graft-exec."))).isEmpty();
  }

  private static String text(ByteArrayOutputStream bytes) {
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private AgentProcess start(String script) {
    return agent.start(List.of("/bin/sh", "-c", script), Optional.empty());
  }

  @Test
  void moreOutputThanFitsIntoOneMessageArrivesWhole() throws Exception {
    assertThat(start("seq 1 3000000; echo done >&2; exit 7").await(out, err, LONG)).isEqualTo(7);
    assertThat(out.size()).isEqualTo(22_888_896);
    assertThat(text(out)).endsWith("\n3000000\n");
    assertThat(text(err)).isEqualTo("done\n");
  }

  @Test
  void outputArrivesWhileTheProgramRuns() throws Exception {
    AgentProcess[] process = {null};
    OutputStream first =
        new ByteArrayOutputStream() {
          @Override
          public synchronized void write(byte[] bytes, int offset, int length) {
            super.write(bytes, offset, length);
            if (text(this).equals("ready\n")) {
              process[0].stop();
            }
          }
        };
    process[0] = start("echo ready; while :; do sleep 1000; done");
    assertThat(process[0].await(first, err, LONG)).isEqualTo(128 + 15);
    assertThat(first).hasToString("ready\n");
  }

  @Test
  void theInputArrives() throws Exception {
    byte[] input = "0123456789abcdef\n".repeat(100_000).getBytes(StandardCharsets.US_ASCII);
    AgentProcess process =
        agent.start(List.of("cat"), Optional.of(new ByteArrayInputStream(input)));
    assertThat(process.await(out, err, LONG)).isZero();
    assertThat(out.toByteArray()).isEqualTo(input);
  }

  /** An input that gives one line, and the next one when its reader has answered. */
  private final class Typing extends InputStream {
    private final String first;
    private final String answer;
    private final String second;
    private int lines;

    Typing(String first, String answer, String second) {
      this.first = first;
      this.answer = answer;
      this.second = second;
    }

    @Override
    public int read() {
      throw new AssertionError("it is read in pieces");
    }

    @Override
    public int read(byte[] into, int from, int most) throws IOException {
      if (lines == 1) {
        awaitShown(answer);
      }
      byte[] line =
          (lines == 0 ? first : lines == 1 ? second : "").getBytes(StandardCharsets.UTF_8);
      System.arraycopy(line, 0, into, from, line.length);
      return lines++ < 2 ? line.length : -1;
    }
  }

  private void awaitShown(String answer) throws IOException {
    try {
      for (int i = 0; !text(out).contains(answer); i++) {
        if (i > 3000) {
          throw new IOException("no answer in " + text(out));
        }
        Thread.sleep(10);
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  @Test
  void theProgramAnswersBeforeItsInputEnds() throws Exception {
    String script = "read a; echo \"it is $a\"; read b; echo \"and $b\"; read c || exit 3";
    AgentProcess process =
        agent.start(
            List.of("/bin/sh", "-c", script),
            Optional.of(new Typing("one\n", "it is one", "two\n")));
    assertThat(process.await(out, err, LONG)).isEqualTo(3);
    assertThat(out).hasToString("it is one\nand two\n");
  }

  /**
   * Endless input reaches a program that reads none: one piece waits, and ends with the program.
   */
  @Test
  void inputThatNobodyReadsWaitsInOnePieceAndEndsWithTheProgram() throws Exception {
    AtomicInteger pieces = new AtomicInteger();
    InputStream endless =
        new InputStream() {
          @Override
          public int read() {
            throw new AssertionError("it is read in pieces");
          }

          @Override
          public int read(byte[] into, int from, int most) {
            pieces.incrementAndGet();
            return most;
          }
        };
    AgentProcess process =
        agent.start(List.of("/bin/sh", "-c", "sleep 2; exit 4"), Optional.of(endless));
    assertThat(process.await(out, err, LONG)).isEqualTo(4);
    assertThat(pieces.get()).isEqualTo(1);
  }

  @Test
  void inputThatCannotBeReadEndsTheProgram() {
    InputStream broken =
        new InputStream() {
          @Override
          public int read() throws IOException {
            throw new IOException("Input/output error");
          }

          @Override
          public int read(byte[] into, int from, int most) throws IOException {
            throw new IOException("Input/output error");
          }
        };
    AgentProcess process = agent.start(List.of("cat"), Optional.of(broken));
    assertThatThrownBy(() -> process.await(out, err, LONG))
        .isInstanceOf(IOException.class)
        .hasMessage("Input/output error");
  }

  private AgentProcess onTerminal(String script, InputStream typed, TerminalSize... sizes) {
    int[] next = {0};
    AgentTerminal terminal =
        new AgentTerminal("vt100", () -> sizes[Math.min(next[0]++, sizes.length - 1)]);
    return agent.start(List.of("/bin/sh", "-c", script), typed, terminal);
  }

  @Test
  void aProgramOnATerminalHasItsSizeItsTypeAndItsKeys() throws Exception {
    InputStream typed = new Typing("it's\n", "read it's", "\u0003");
    String script =
        "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && stty size && echo $TERM${GRAFT_EXEC-}; read a;"
            + " stty raw -echo; echo \"read $a\"; dd bs=1 count=1 2>/dev/null | od -An -tu1; exit 7";
    AgentProcess process = onTerminal(script, typed, new TerminalSize(33, 111));
    assertThat(process.await(out, err, LONG)).isEqualTo(7);
    assertThat(text(out)).contains("33 111\r\nvt100\r\n").containsPattern("read it's\\s+3\\s");
    assertThat(err).hasToString("");
  }

  /**
   * A process that was started in the background of a script ignores Ctrl-C, and so do its
   * children.
   */
  private static boolean ignoresCtrlC() throws IOException {
    String ignored =
        Files.readAllLines(Path.of("/proc/self/status")).stream()
            .filter(line -> line.startsWith("SigIgn:"))
            .findFirst()
            .orElseThrow();
    return (Long.parseUnsignedLong(ignored.substring("SigIgn:".length()).strip(), 16) & 2) != 0;
  }

  @Test
  void ctrlCEndsTheProgramAndItsCodeIsKnown() throws Exception {
    assumeFalse(ignoresCtrlC(), "this process ignores Ctrl-C");
    AgentProcess process =
        onTerminal(
            "echo ready; sleep 100; echo never",
            new Typing("", "ready", "\u0003"),
            TerminalSize.USUAL);
    assertThat(process.await(out, err, LONG)).isEqualTo(128 + 2);
    assertThat(text(out)).doesNotContain("never");
  }

  @Test
  void theCodeOfAProgramOnATerminalIsItsOwn() throws Exception {
    InputStream nothing = InputStream.nullInputStream();
    assertThat(onTerminal("exit 7", nothing, TerminalSize.USUAL).await(out, err, LONG))
        .isEqualTo(7);
  }

  @Test
  void aWindowThatChangesItsSizeIsSaid() throws Exception {
    String script =
        "trap 'stty size; exit 5' WINCH; echo begun; i=0;"
            + " while [ $i -lt 300 ]; do sleep 0.1; i=$((i+1)); done";
    InputStream waits = new Typing("", "40 100", "");
    AgentProcess process =
        onTerminal(
            script, waits, TerminalSize.USUAL, TerminalSize.USUAL, new TerminalSize(40, 100));
    assertThat(process.await(out, err, LONG)).isEqualTo(5);
    assertThat(text(out)).startsWith("begun\r\n40 100\r\n");
  }

  /** Fails if the program has not ended by then: a join would outlast the class's limit. */
  private static void awaitEnd(long child) throws Exception {
    Optional<ProcessHandle> left = ProcessHandle.of(child);
    if (left.isPresent()) {
      left.get().onExit().get(LONG.toSeconds(), TimeUnit.SECONDS);
    }
  }

  @Test
  void aProgramOnATerminalIsEndedToo() throws Exception {
    AgentProcess process =
        onTerminal("echo $$; exec sleep 1234567", new Typing("", "x", ""), TerminalSize.USUAL);
    assertThatThrownBy(() -> process.await(out, err, Duration.ofSeconds(1)))
        .hasMessageContaining("did not end within 1.0 s, and was killed");
    long child = Long.parseLong(text(out).strip());
    awaitEnd(child);
  }

  @Test
  void noTypeOfATerminalIsACommand() {
    for (String type : List.of("", "a b", "$(id)", "\u001b", "x;y")) {
      assertThatThrownBy(() -> new AgentTerminal(type, () -> TerminalSize.USUAL))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void aProgramThatIsNotThereIsSaid() throws Exception {
    AgentProcess process = agent.start(List.of("no-such"), Optional.empty());
    assertThat(process.await(out, err, LONG)).isEqualTo(125);
    assertThat(err).hasToString("there is no program 'no-such' in the guest\n");
  }

  @Test
  void aProgramThatTakesTooLongIsEndedWithItsChildren() throws Exception {
    AgentProcess process = start("sleep 1234567 & echo $!; wait");
    assertThatThrownBy(() -> process.await(out, err, Duration.ofMillis(500)))
        .isInstanceOf(AgentException.class)
        .hasMessageContaining("did not end within 0.5 s, and was killed");
    long child = Long.parseLong(text(out).strip());
    awaitEnd(child);
  }

  @Test
  void whoeverReadsTheOutputMayGo() throws Exception {
    OutputStream gone =
        new OutputStream() {
          @Override
          public void write(int one) throws IOException {
            throw new IOException("Broken pipe");
          }
        };
    AgentProcess process = start("yes");
    assertThatThrownBy(() -> process.await(gone, err, LONG)).hasMessage("Broken pipe");
  }
}
