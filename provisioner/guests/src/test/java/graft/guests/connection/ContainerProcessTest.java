package graft.guests.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What passes between a program in a container and its caller. */
class ContainerProcessTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private static ContainerProcess shell(String script) throws IOException {
    return new ContainerProcess(new ProcessBuilder("/bin/sh", "-c", script).start());
  }

  private static OptionalInt finish(ContainerProcess process, InputStream in, OutputStream out)
      throws InterruptedException {
    return process.finish(in, out, OutputStream.nullOutputStream(), LIMIT);
  }

  private static OutputStream fullDisk() {
    return new OutputStream() {
      @Override
      public void write(int octet) throws IOException {
        throw new IOException("No space left on device");
      }
    };
  }

  /** The number of a container's first process may be another process's by now. */
  @Test
  void nothingIsExecutedOutsideOfAContainer() throws Exception {
    for (String enter : List.of(ContainerProcess.ENTER, ContainerProcess.ENTER_ON_TERMINAL)) {
      List<String> words = new ArrayList<>(List.of("/bin/sh", "-c", enter, "sh"));
      words.addAll(List.of("0", "--target", "" + ProcessHandle.current().pid(), "--all", "--"));
      words.addAll(List.of("echo", "executed"));
      Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
      assertThat(process.getInputStream().readAllBytes()).isEmpty();
      assertThat(process.waitFor()).isEqualTo(125);
    }
  }

  @Test
  void inputAndOutputPassWhole() throws Exception {
    byte[] much = new byte[3_000_001];
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ContainerProcess process = shell("cat; exit 3");
    assertThat(finish(process, new ByteArrayInputStream(much), out)).hasValue(3);
    assertThat(out.size()).isEqualTo(much.length);
    assertThatCode(process::checkInput).doesNotThrowAnyException();
    assertThatCode(process::checkWholeOutput).doesNotThrowAnyException();
  }

  @Test
  void whatCannotBeWrittenIsAnErrorAndEndsTheProgram() throws Exception {
    ContainerProcess process = shell("echo x; sleep 60 & wait");
    long begin = System.nanoTime();
    finish(process, InputStream.nullInputStream(), fullDisk());
    assertThat(System.nanoTime() - begin).isLessThan(TimeUnit.SECONDS.toNanos(50));
    assertThatIOException()
        .isThrownBy(process::checkOutput)
        .withMessageContaining("No space left on device");
  }

  @Test
  void whatCannotBeReadIsAnError() throws Exception {
    ContainerProcess process = shell("cat");
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
    assertThat(finish(process, broken, OutputStream.nullOutputStream())).hasValue(0);
    assertThatIOException().isThrownBy(process::checkInput).withMessageContaining("Input/output");
  }

  /** A file on a file system that hangs is not whole although the program has ended. */
  @Test
  void outputThatIsNotWrittenInTimeIsNotWhole() throws Exception {
    CountDownLatch works = new CountDownLatch(1);
    OutputStream hanging =
        new OutputStream() {
          @Override
          public void write(int octet) throws IOException {
            try {
              works.await();
            } catch (InterruptedException e) {
              throw new IOException(e);
            }
          }
        };
    ContainerProcess process = shell("echo x");
    assertThat(finish(process, InputStream.nullInputStream(), hanging)).hasValue(0);
    assertThatCode(process::checkOutput).doesNotThrowAnyException();
    assertThatIOException().isThrownBy(process::checkWholeOutput);
    works.countDown();
  }
}
