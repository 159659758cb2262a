package graft.guests.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A console joined to streams, and the console of a container. */
@Timeout(60)
class ConsoleSessionTest {
  private static final byte[] END = new byte[0];
  private static final Duration SHORT = Duration.ofMillis(200);

  @TempDir Path folder;

  /** A guest that answers in capitals, and stops at "OFF". */
  private static final class Guest implements ConsoleStream {
    private final LinkedBlockingQueue<byte[]> answers = new LinkedBlockingQueue<>();
    private final CountDownLatch closed = new CountDownLatch(1);

    @Override
    public int read(byte[] into) throws IOException {
      try {
        byte[] next = answers.take();
        System.arraycopy(next, 0, into, 0, next.length);
        return next == END ? -1 : next.length;
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }

    @Override
    public void write(byte[] typed, int count) {
      String text = new String(typed, 0, count, StandardCharsets.UTF_8).toUpperCase(Locale.ROOT);
      answers.add(text.getBytes(StandardCharsets.UTF_8));
      if (text.equals("OFF")) {
        answers.add(END);
      }
    }

    @Override
    public void close() {
      closed.countDown();
      answers.add(END);
    }
  }

  private static InputStream text(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
  }

  /** An input that never comes. */
  private static InputStream never() throws IOException {
    return new PipedInputStream(new PipedOutputStream());
  }

  @Test
  void theAnswersToTheInputAreShownUntilTheConsoleIsSilent() throws Exception {
    Guest guest = new Guest();
    ByteArrayOutputStream shown = new ByteArrayOutputStream();
    assertThat(ConsoleSession.of(guest, text("ls\n"), shown, SHORT).await())
        .isEqualTo(ConsoleSession.End.LEFT);
    assertThat(shown).hasToString("LS\n");
    assertThat(guest.closed.getCount()).as("others may open it").isZero();
  }

  @Test
  void aGuestThatStopsEndsIt() throws Exception {
    Guest guest = new Guest();
    guest.write("off".getBytes(StandardCharsets.UTF_8), 3);
    assertThat(ConsoleSession.of(guest, never(), new ByteArrayOutputStream(), SHORT).await())
        .isEqualTo(ConsoleSession.End.CONSOLE);
    assertThat(guest.closed.getCount()).isZero();
  }

  @Test
  void anotherThreadEndsIt() throws Exception {
    Guest guest = new Guest();
    ConsoleSession session = ConsoleSession.of(guest, never(), new ByteArrayOutputStream(), SHORT);
    Thread other = new Thread(session::stop);
    other.start();
    assertThat(session.await()).isEqualTo(ConsoleSession.End.LEFT);
    assertThat(guest.closed.getCount()).isZero();
  }

  @Test
  void anOutputThatIsGoneEndsIt() {
    Guest guest = new Guest();
    OutputStream gone =
        new OutputStream() {
          @Override
          public void write(int one) throws IOException {
            throw new IOException("Broken pipe");
          }
        };
    assertThatThrownBy(() -> ConsoleSession.of(guest, text("x"), gone, SHORT).await())
        .isInstanceOf(IOException.class)
        .hasMessage("Broken pipe");
    assertThat(guest.closed.getCount()).isZero();
  }

  @Test
  void aContainersConsoleIsWrittenToItsTerminalAndReadFromItsLog() throws Exception {
    Path terminal = Files.writeString(folder.resolve("terminal"), "");
    Path log = Files.writeString(folder.resolve("log"), "before\n");
    AtomicBoolean runs = new AtomicBoolean(true);
    try (ContainerTerminal console = ContainerTerminal.open(terminal, log, runs::get, false)) {
      assertThatThrownBy(() -> ContainerTerminal.open(terminal, log, runs::get, false))
          .isInstanceOf(GraftException.class)
          .hasMessageContaining("open elsewhere")
          .hasMessageContaining("--force");
      ContainerTerminal.open(terminal, log, runs::get, true).close();

      console.write("ls\n".getBytes(StandardCharsets.UTF_8), 3);
      assertThat(terminal).hasContent("ls\n");
      Files.writeString(log, "after\n", StandardOpenOption.APPEND);
      byte[] shown = new byte[100];
      assertThat(new String(shown, 0, console.read(shown), StandardCharsets.UTF_8))
          .isEqualTo("after\n");
      runs.set(false);
      assertThat(console.read(shown)).as("the container has ended").isEqualTo(-1);
    }
    ContainerTerminal.open(terminal, log, runs::get, false).close();
  }
}
