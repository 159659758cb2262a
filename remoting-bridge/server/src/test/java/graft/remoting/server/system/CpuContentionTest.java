package graft.remoting.server.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When threads of a session stop polling without pause. */
final class CpuContentionTest {
  private static final long MILLI = 1_000_000;

  @TempDir Path folder;

  private Path loads;
  private Path online;
  private long now;

  @BeforeEach
  void fourCpus() throws IOException {
    loads = folder.resolve("loadavg");
    online = Files.writeString(folder.resolve("online"), "0-2,5\n");
    now = System.nanoTime() + 1_000_000 * MILLI; // later than any contention of a test is created
    say("1.50 2.00 13.25 3/512 4711\n");
  }

  private void say(String text) throws IOException {
    Files.writeString(loads, text);
  }

  private CpuContention contention() {
    return new CpuContention(loads, online);
  }

  @Test
  void thereIsNoneWhileACpuIsLeft() throws IOException {
    CpuContention contention = contention();
    assertThat(contention.isSeen(now)).isFalse();
    say("1.50 2.00 13.25 4/512 4711\n");
    assertThat(contention.isSeen(now)).as("it is not asked again at once").isFalse();
    assertThat(contention.isSeen(now + MILLI)).isTrue();
    say("1.50 2.00 13.25 1/512 4711\n");
    assertThat(contention.polled(now + 2 * MILLI, now + 2 * MILLI)).as("it is over").isFalse();
  }

  @Test
  void aThreadThatDidNotRunShowsThatItIsNotAlone() {
    CpuContention contention = contention();
    assertThat(contention.polled(now, now + MILLI / 10)).isFalse();
    assertThat(contention.polled(now, now + MILLI)).isTrue();
    assertThat(contention.isSeen(now + 90 * MILLI)).isTrue();
    assertThat(contention.isSeen(now + 200 * MILLI)).isFalse();
  }

  @Test
  void withoutAnAnswerThreadsPollAsIfTheyWereAlone() throws IOException {
    for (String text :
        new String[] {
          "", "\n", "1.50 2.00", "1.50 2.00 13.25 ", "a b c d", "1 2 3 -9/1", " ".repeat(300)
        }) {
      say(text);
      assertThat(contention().isSeen(now)).as(text).isFalse();
    }
    assertThat(new CpuContention(folder.resolve("none"), online).isSeen(now)).isFalse();
    say("1.50 2.00 13.25 99999999999999999999/512 4711\n");
    assertThat(contention().isSeen(now)).as("more than a number holds").isTrue();
    Files.writeString(online, "all\n");
    assertThat(contention().isSeen(now)).isFalse();
  }
}
