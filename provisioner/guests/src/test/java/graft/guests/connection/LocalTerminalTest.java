package graft.guests.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.common.program.HostProgram;
import graft.hypervisors.libvirt.TerminalSize;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The caller's terminal, by a process on a terminal that script(1) makes. */
class LocalTerminalTest {
  /** A process that has the terminal, reads one key raw, and ends as its argument says. */
  static final class User {
    private User() {}

    /** Shows the size and the number of the key. */
    @SuppressWarnings("SystemOut")
    public static void main(String[] arguments) throws Exception {
      try (LocalTerminal terminal = LocalTerminal.open()) {
        terminal.raw();
        System.out.print("ready\r\n");
        System.out.print("size " + terminal.size() + " key " + terminal.input().read() + "\r\n");
        if (arguments[0].equals("killed")) {
          String pid = String.valueOf(ProcessHandle.current().pid());
          new ProcessBuilder("kill", pid).start();
          Thread.sleep(60_000);
        }
      }
    }
  }

  /** What a terminal of 33 rows and 111 columns shows while the process uses it. */
  private static String shown(String end, String typed) throws Exception {
    assumeTrue(HostProgram.isThere("script", System.getenv()), "no script(1) here");
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String user = User.class.getName().replace("$", "\\$");
    String line =
        "stty rows 33 cols 111; before=$(stty -g); "
            + (java + " -XX:TieredStopAtLevel=1 -cp '" + System.getProperty("java.class.path"))
            + ("' " + user + " " + end + "; echo code $?;")
            + " [ \"$before\" = \"$(stty -g)\" ] && echo restored";
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    HostProgram.of("script", List.of("-q", "-e", "-c", line, "/dev/null"))
        .run(Duration.ofSeconds(60), new TypedWhenReady(typed, out), out, out);
    return out.toString(StandardCharsets.UTF_8);
  }

  /** Keys that come once the terminal is raw: before that, Ctrl-C would end the process. */
  private static final class TypedWhenReady extends InputStream {
    private final InputStream keys;
    private final ByteArrayOutputStream shown;

    TypedWhenReady(String keys, ByteArrayOutputStream shown) {
      this.keys = new ByteArrayInputStream(keys.getBytes(StandardCharsets.UTF_8));
      this.shown = shown;
    }

    @Override
    public int read() throws IOException {
      while (!shown.toString(StandardCharsets.UTF_8).contains("ready\r\n")) {
        try {
          Thread.sleep(10);
        } catch (InterruptedException e) {
          throw new IOException(e);
        }
      }
      return keys.read();
    }

    @Override
    public int read(byte[] into, int from, int most) throws IOException {
      int key = read();
      into[from] = (byte) key;
      return key < 0 ? -1 : 1;
    }
  }

  @Test
  void everyKeyIsPassedOnAndTheSettingsAreRestored() throws Exception {
    assertThat(shown("well", "\u0003"))
        .contains("size TerminalSize[rows=33, columns=111] key 3\r\ncode 0\r\nrestored");
  }

  @Test
  void aSignalThatEndsItRestoresTheSettingsToo() throws Exception {
    assertThat(shown("killed", "x")).contains("key 120\r\n", "code 143\r\nrestored");
  }

  @Test
  void aTerminalThatDoesNotKnowItsSizeHasTheUsualOne() {
    assertThat(LocalTerminal.size("33 111")).isEqualTo(new TerminalSize(33, 111));
    for (String said : List.of("0 0", "", "x", "33", "33 111 5", "99999 1", "-1 80")) {
      assertThat(LocalTerminal.size(said)).isEqualTo(TerminalSize.USUAL);
    }
  }

  @Test
  void aTypeThatIsNoneIsTheOneThatAllKnow() {
    assertThat(LocalTerminal.type(Map.of("TERM", "screen-256color"))).isEqualTo("screen-256color");
    for (String type : List.of("", "a b", "$(id)", "x\n")) {
      assertThat(LocalTerminal.type(Map.of("TERM", type))).isEqualTo("xterm");
    }
  }
}
