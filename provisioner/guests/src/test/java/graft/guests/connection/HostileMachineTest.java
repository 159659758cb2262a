package graft.guests.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import graft.common.GraftException;
import graft.common.values.UserName;
import graft.guests.machine.Machine;
import graft.guests.machine.MachineReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A machine that exists already and answers something hostile: another program stands in the place
 * of ssh and says what such a machine would.
 */
class HostileMachineTest {
  private static final List<String> PATHS = List.of("/etc/graft/token", "/usr/lib/graft/a");
  private static final String GOOD = "system=Linux\ncpu=x86_64\nlibc=glibc\nend=1\n";

  @TempDir Path folder;

  private Machine machine(String script) throws IOException {
    return new Machine(connection(script), "me@192.0.2.1");
  }

  private SshConnection connection(String script) throws IOException {
    Path ssh = folder.resolve("ssh");
    Files.writeString(ssh, "#!/bin/sh\ncat >/dev/null\n" + script + "\n");
    Files.setPosixFilePermissions(ssh, PosixFilePermissions.fromString("rwxr-xr-x"));
    return SshConnection.toKnown(login(), ssh.toString());
  }

  private SshLogin login() {
    return new SshLogin(
        new UserName("me"),
        Optional.of(new HostAddress("192.0.2.1")),
        22,
        Optional.empty(),
        folder.resolve("known"));
  }

  /** A script that prints a file. */
  private String says(String text) throws IOException {
    Files.writeString(folder.resolve("said"), text);
    return "cat " + folder.resolve("said");
  }

  private static void assertHarmless(String text) {
    assertThat(text.length()).isLessThan(20_000);
    assertThat(
            text.chars()
                .filter(c -> (Character.isISOControl(c) && c != '\n' && c != '\t') || c == 0x202e))
        .as(text)
        .isEmpty();
  }

  @Test
  void hostKeysAreNeverAcceptedUnseen() throws Exception {
    assertThat(connection("true").arguments(List.of("true")))
        .containsSequence("-o", "StrictHostKeyChecking=yes")
        .doesNotContain("StrictHostKeyChecking=accept-new")
        .endsWith("--", "192.0.2.1", "sudo -n -- true");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "\n\n\n",
        "end=1",
        "cpu=x86_64",
        "\u001b]0;title\u0007",
        "system=\u001b[2J\nend=1\n",
        "free=99999999999999999999 /\nfree=x\nfree=\nend=1\n",
        "there=/etc/shadow\nthere=/etc/graft/token; rm -rf /\nend=1\n",
        "client=$(id)\nowner=\u202eabc\nend=1\n",
        "end=1\0\0\0"
      })
  void anyAnswerIsARefusalOrAReportWithoutControlCharacters(String answer) throws Exception {
    try {
      MachineReport report = machine(says(answer)).probe(PATHS);
      assertHarmless(report.toString());
      assertThat(report.there()).isSubsetOf(PATHS);
      assertThat(report.client()).isEmpty();
    } catch (GraftException e) {
      assertHarmless(e.getMessage());
    }
  }

  @Test
  void megabytesOfAnswerEnd() throws Exception {
    String flood = "yes 'missing=" + "a".repeat(5000) + "' | head -c 40000000";
    assertThatThrownBy(() -> machine(flood).probe(PATHS))
        .isInstanceOf(GuestConnectionException.class)
        .satisfies(e -> assertHarmless(e.getMessage()));
    MachineReport report = machine(says(GOOD) + "; " + flood).probe(PATHS);
    assertThat(report.missing()).hasSizeLessThan(21).allMatch(text -> text.length() < 300);
    report =
        machine(
                "i=0; while [ $i -lt 300 ]; do echo readonly=/etc$i; echo readonly=/etc; echo"
                    + " free=1 /$i; i=$((i+1)); done; echo end=1")
            .probe(PATHS);
    assertThat(report.readonly()).containsExactly("/etc");
    assertThat(report.free()).isEmpty();
  }

  @Test
  void aMachineThatSaysNothingForeverIsLeft() throws Exception {
    assertThatThrownBy(() -> connection("exec sleep 600").run(List.of("x"), new byte[0], second()))
        .isInstanceOf(GuestConnectionException.class)
        .hasMessageContaining("did not end within 1 s");
  }

  private static Duration second() {
    return Duration.ofSeconds(1);
  }

  @Test
  void aUserWithoutSudoIsSaid() throws Exception {
    GraftException e =
        catchThrowableOfType(
            GraftException.class,
            () -> machine("echo 'sudo: a password is required' >&2; exit 1").probe(PATHS));
    assertThat(e)
        .hasMessageContaining("me@192.0.2.1 can log in and not become root")
        .hasMessageContaining("let it use sudo without a password, or log in as root");
  }

  @Test
  void aChangeCountsOnlyIfTheMachineSaysSoAtTheEnd() throws Exception {
    assertThatThrownBy(() -> machine("echo done; echo more").keep("a", PATHS))
        .isInstanceOf(GraftException.class);
    assertThatThrownBy(() -> machine("echo 'failed: \u001b[31mred'; exit 1").keep("a", PATHS))
        .hasMessageContaining("cannot note what the machine has: \\u001b[31mred");
    assertThatThrownBy(() -> machine("echo 'failed: No space left on device'; exit 1").undo("a"))
        .hasMessageContaining("free space on its disk");
    assertThat(machine("yes 'left \u001b[31m' | head -n 100000; echo done").undo("a"))
        .hasSize(20)
        .allSatisfy(HostileMachineTest::assertHarmless);
  }
}
