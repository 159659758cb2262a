package graft.common.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a program of this host gets and gives. */
@Timeout(60)
final class HostProgramTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final ByteArrayOutputStream output = new ByteArrayOutputStream();
  private final ByteArrayOutputStream errors = new ByteArrayOutputStream();

  private HostProgram.End run(InputStream input, String script) throws IOException {
    return HostProgram.of("/bin/sh", List.of("-c", script)).run(LIMIT, input, output, errors);
  }

  @Test
  void aProgramLearnsThatStandardInputHasEnded() throws Exception {
    InputStream before = System.in;
    System.setIn(new ByteArrayInputStream("some text".getBytes(StandardCharsets.UTF_8)));
    try {
      assertThat(run(System.in, "cat; echo its end >&2; exit 3"))
          .isEqualTo(new HostProgram.End(3, false));
    } finally {
      System.setIn(before);
    }
    assertThat(output.toString(StandardCharsets.UTF_8)).isEqualTo("some text");
    assertThat(errors.toString(StandardCharsets.UTF_8)).isEqualTo("its end\n");
  }

  @RepeatedTest(30) // the end and the input race
  void aProgramThatEndsIsNotHeldUpByInputThatGoesOn() throws Exception {
    try (PipedInputStream endless = new PipedInputStream();
        OutputStream open = new PipedOutputStream(endless)) {
      open.write('x');
      assertThat(run(endless, "exit 5")).isEqualTo(new HostProgram.End(5, false));
    }
  }

  @Test
  void whatArrivesSlowlyIsPassedOnAtOnce() throws Exception {
    try (PipedInputStream typed = new PipedInputStream();
        OutputStream keyboard = new PipedOutputStream(typed)) {
      keyboard.write("a line\n".getBytes(StandardCharsets.UTF_8)); // and the input stays open
      assertThat(run(typed, "read line; echo \"$line\"").code()).isZero();
    }
    assertThat(output.toString(StandardCharsets.UTF_8)).isEqualTo("a line\n");
  }

  @Test
  void aLargeInputArrivesWhole() throws Exception {
    byte[] large = new byte[5_000_000];
    new java.util.Random(7).nextBytes(large);
    assertThat(run(new ByteArrayInputStream(large), "cat").code()).isZero();
    assertThat(output.toByteArray()).isEqualTo(large);
  }

  @Test
  void anInputThatBreaksIsNoWholeInput() {
    InputStream broken =
        new InputStream() {
          private int left = 10;

          @Override
          public int read() throws IOException {
            if (left-- == 0) {
              throw new IOException("the disk is broken");
            }
            return 'x';
          }

          @Override
          public int read(byte[] to, int from, int count) throws IOException {
            to[from] = (byte) read();
            return 1;
          }
        };
    assertThatThrownBy(() -> run(broken, "cat"))
        .isInstanceOf(HostProgram.BrokenInputException.class)
        .hasMessage("its input cannot be read: the disk is broken");
  }

  @Test
  void aProgramThatIsLateIsEnded() throws Exception {
    HostProgram.End end =
        HostProgram.of("/bin/sh", List.of("-c", "exec sleep 100"))
            .run(Duration.ofMillis(300), InputStream.nullInputStream(), output, errors);
    assertThat(end.late()).isTrue();
  }
}
