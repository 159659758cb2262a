package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import graft.cli.terminal.ConsolePrinter;
import graft.cli.terminal.ExitCode;
import graft.common.json.Json;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What a terminal gets of text that somebody hostile wrote. */
class TerminalTest {
  @TempDir Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int graft(String... args) {
    CommandLine line = Main.commandLine(args);
    return line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err)).execute(args);
  }

  @Test
  void errorsQuoteControlCharactersVisibly() throws Exception {
    Path file = folder.resolve("lab.yaml");
    Files.writeString(
        file, "graft: 1\nhypervisor: \"a\\e]0;owned\\a\\x9b31m\"\nguests: [{name: a, image: i}]\n");
    assertThat(graft("validate", file.toString())).isEqualTo(ExitCode.DESCRIPTOR);
    assertThat(err.toString())
        .contains("a\\u001b]0;owned\\u0007\\u009b31m")
        .doesNotContain("\u001b", "\u0007", "\u009b");
    assertThat(graft("validate", "--output", "json", file.toString())).isNotZero();
    assertThat(out.toString()).doesNotContain("\u001b", "\u0007", "\u009b");
    assertThat(Json.readObject(out.toString()).toString())
        .contains("a\u001b]0;owned\u0007\u009b31m");
  }

  private static String follow(String... pieces) {
    ConsolePrinter printer = new ConsolePrinter();
    StringBuilder shown = new StringBuilder();
    for (String piece : pieces) {
      shown.append(printer.next(piece.getBytes(StandardCharsets.UTF_8)));
    }
    return shown.toString();
  }

  @Test
  void aConsoleThatIsFollowedLosesItsColoursWhereverThePiecesEnd() {
    String printed = "\u001b[2J\u001b[0;32mOK\u001b[0m Zürich\r\nlogin: ";
    assertThat(follow(printed)).isEqualTo("OK Zürich\nlogin: ");
    ConsolePrinter printer = new ConsolePrinter();
    StringBuilder shown = new StringBuilder();
    for (byte one : printed.getBytes(StandardCharsets.UTF_8)) {
      shown.append(printer.next(new byte[] {one}));
    }
    assertThat(shown.toString()).isEqualTo("OK Zürich\nlogin: ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\u001b]0;owned\u0007",
        "\u001b]52;c;AAAA\u001b\\",
        "\u001bP$q\"p\u001b\\",
        "\u001bc",
        "\u009b2J",
        "\u001b[5n",
        "\u001b",
        "\u001b]no end",
        "\u0000\u0007\b\u000b\u007f"
      })
  void aConsoleCommandsNoTerminal(String printed) {
    String shown = follow("before " + printed, "x".repeat(300), " after\n");
    assertThat(shown.chars().filter(c -> Character.isISOControl(c) && c != '\n')).isEmpty();
    assertThat(shown).startsWith("before ").endsWith(" after\n");
  }
}
