package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.hypervisors.libvirt.calls.AgentException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
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

  private AgentProcess start(String script) throws IOException {
    return agent.start(List.of("/bin/sh", "-c", script), InputStream.nullInputStream());
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
    AgentProcess process = agent.start(List.of("cat"), new ByteArrayInputStream(input));
    assertThat(process.await(out, err, LONG)).isZero();
    assertThat(out.toByteArray()).isEqualTo(input);
  }

  @Test
  void aProgramThatIsNotThereIsSaid() throws Exception {
    AgentProcess process = agent.start(List.of("no-such"), InputStream.nullInputStream());
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
    ProcessHandle.of(child).ifPresent(left -> left.onExit().join());
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
