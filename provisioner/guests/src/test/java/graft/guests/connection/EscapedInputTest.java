package graft.guests.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** ssh's way out of a session, in what is typed. */
class EscapedInputTest {
  private int left;

  /** What passes of these pieces, each of which is read at once. */
  private String passes(String... pieces) throws IOException {
    return passed(new EscapedInput(typed(pieces), () -> left++));
  }

  private static InputStream typed(String... pieces) {
    List<InputStream> streams =
        Stream.of(pieces)
            .map(piece -> piece.getBytes(StandardCharsets.UTF_8))
            .<InputStream>map(ByteArrayInputStream::new)
            .toList();
    return new SequenceInputStream(Collections.enumeration(streams));
  }

  private static String passed(EscapedInput input) throws IOException {
    ByteArrayOutputStream passed = new ByteArrayOutputStream();
    byte[] buffer = new byte[8];
    for (int count = input.read(buffer); count >= 0; count = input.read(buffer)) {
      assertThat(count).as("no piece is empty").isPositive();
      passed.write(buffer, 0, count);
    }
    return passed.toString(StandardCharsets.UTF_8);
  }

  @Test
  void aTildeAndADotAtTheBeginningOfALineLeave() throws IOException {
    assertThat(passes("~.never")).isEmpty();
    assertThat(passes("ls\r~", ".", "never")).isEqualTo("ls\r");
    assertThat(passes("0123456789\n~.")).isEqualTo("0123456789\n");
    assertThat(left).isEqualTo(3);
  }

  @Test
  void everythingElsePasses() throws IOException {
    for (String typed :
        List.of(
            "a~.b", "~/x\r", "cd ~\r", "\u0003\u001b[A\u001c", "~\r~x", "ü~.~", "1234567\r~a")) {
      assertThat(passes(typed)).isEqualTo(typed);
      assertThat(passes(typed.split("", -1))).isEqualTo(typed);
    }
    assertThat(left).isZero();
  }

  @Test
  void twoTildesAreOne() throws IOException {
    assertThat(passes("~~.\r~~~.")).isEqualTo("~.\r~~.");
    assertThat(left).isZero();
  }

  @Test
  void aConsoleIsLeftByCtrlBracketToo() throws IOException {
    for (String way : List.of("\u001d", "\r~.", "\r~\u001d")) {
      assertThat(passed(EscapedInput.ofConsole(typed("ls" + way + "never"))))
          .isEqualTo(way.startsWith("\r") ? "ls\r" : "ls");
    }
    assertThat(passed(EscapedInput.ofConsole(typed("ls", "\u001d", "never")))).isEqualTo("ls");
    assertThat(passed(EscapedInput.ofConsole(typed("a]\u0003\u001b[A~~"))))
        .isEqualTo("a]\u0003\u001b[A~~");
    assertThat(passes("a\u001db")).as("a key like any other to a program").isEqualTo("a\u001db");
  }
}
