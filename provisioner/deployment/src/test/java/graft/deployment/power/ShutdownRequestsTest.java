package graft.deployment.power;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.GraftException;
import graft.guests.connection.Ended;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.GuestConnectionException;
import graft.guests.connection.GuestProcess;
import graft.guests.connection.LocalTerminal;
import graft.guests.connection.TerminalSession;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is said of a guest that does not shut down, and how a container is asked. */
final class ShutdownRequestsTest {
  @TempDir Path folder;

  @Test
  void aRequestThatFailsIsSaidWithTheProgramsWords() throws Exception {
    poweroff("echo 'no init answers' >&2; exit 3");
    Optional<String> failure = ShutdownRequests.powerOff(new Local(folder));
    assertThat(failure.orElseThrow())
        .startsWith("'poweroff' in it ended with exit code 3:")
        .contains("no init answers");
    GraftException late = ShutdownRequests.tooLate("alice", Duration.ofMinutes(1), 6, failure);
    assertThat(late.getMessage())
        .startsWith(
            "the guest 'alice' did not shut down within 60 s, and the last of 6 requests failed:"
                + " 'poweroff' in it ended with exit code 3: no init answers")
        .contains("--force");
  }

  @Test
  void aContainerThatCannotBeEnteredIsSaid() {
    GuestConnection closed =
        new Local(folder) {
          @Override
          public Ended run(List<String> words, byte[] input, Duration timeout) {
            throw new GuestConnectionException("cannot enter it", "is it running?", true, null);
          }
        };
    assertThat(ShutdownRequests.powerOff(closed).orElseThrow())
        .contains("'poweroff' could not be run in it: cannot enter it");
  }

  @Test
  void aRequestThatWasTakenIsNoFailure() throws Exception {
    poweroff("");
    assertThat(ShutdownRequests.powerOff(new Local(folder))).isEmpty();
    // init ends all programs, also the one that asked it
    poweroff("kill -TERM $PPID; kill -TERM $$");
    assertThat(ShutdownRequests.powerOff(new Local(folder))).isEmpty();
    assertThat(
            ShutdownRequests.tooLate("alice", Duration.ofMinutes(5), 1, Optional.empty())
                .getMessage())
        .startsWith(
            "the guest 'alice' did not shut down within 300 s, and the request was accepted without"
                + " an error")
        .contains("--timeout");
    assertThat(ShutdownRequests.tooLate("alice", Duration.ZERO, 0, Optional.empty()).getMessage())
        .startsWith("the guest 'alice' did not shut down within 0 s, and was not asked to");
  }

  /** sync(2) in a container waits for all programs of the host that write. */
  @Test
  void poweroffDoesNotWaitForTheDisksOfTheHost() throws Exception {
    poweroff("for word; do printf %s, \"$word\"; done >>" + folder.resolve("asked"));
    assertThat(ShutdownRequests.powerOff(new Local(folder))).isEmpty();
    assertThat(folder.resolve("asked")).hasContent("-n,");
  }

  @Test
  void aPoweroffThatKnowsNoSuchOptionIsCalledWithout() throws Exception {
    poweroff("[ $# = 0 ] || exit 1; echo well >" + folder.resolve("asked"));
    assertThat(ShutdownRequests.powerOff(new Local(folder))).isEmpty();
    assertThat(folder.resolve("asked")).hasContent("well");
  }

  private void poweroff(String script) throws IOException {
    Path program = Files.writeString(folder.resolve("poweroff"), "#!/bin/sh\n" + script + "\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();
  }

  /** Runs programs on this machine, those of a folder before others. */
  private static class Local implements GuestConnection {
    private final Path programs;

    Local(Path programs) {
      this.programs = programs;
    }

    @Override
    public Ended run(List<String> words, byte[] input, Duration timeout) {
      try {
        ProcessBuilder builder = new ProcessBuilder(words).redirectErrorStream(true);
        builder.environment().put("PATH", programs + ":/usr/bin:/bin");
        Process process = builder.start();
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        process.getInputStream().transferTo(said);
        return new Ended(process.waitFor(), said, new ByteArrayOutputStream(), false);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public boolean answers(Duration timeout) {
      throw new UnsupportedOperationException();
    }

    @Override
    public GuestProcess start(List<String> words, Optional<InputStream> input) {
      throw new UnsupportedOperationException();
    }

    @Override
    public TerminalSession start(List<String> words, LocalTerminal terminal) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void put(InputStream content, String path, int mode) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void get(String path, OutputStream to) {
      throw new UnsupportedOperationException();
    }
  }
}
