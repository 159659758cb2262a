package graft.common.grants;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokensFileTest {
  private static final String TOKEN = "0123456789abcdef".repeat(4);

  @TempDir Path folder;

  private TokensFile file(String text, String mode) throws IOException {
    Path path = folder.resolve("tokens");
    Files.writeString(path, text);
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
    return new TokensFile(path);
  }

  @Test
  void aLineGivesNameTokenAndSettings() throws Exception {
    Map<String, Grant> grants =
        file(
                "# all\n\nalice "
                    + TOKEN
                    + " memory=1024 guest-memory=4096 max-sessions=3 device=1 cid=70000"
                    + " region=/dev/shm/a domain=graft-alice\n"
                    + "bob\t"
                    + TOKEN
                    + "\n",
                "rw-------")
            .read();
    assertThat(grants).containsOnlyKeys("alice", "bob");
    Grant alice = grants.get("alice");
    assertThat(alice.memory()).hasValue(1024);
    assertThat(alice.guestMemory()).hasValue(4096);
    assertThat(alice.maxSessions()).hasValue(3);
    assertThat(alice.device()).hasValue(1);
    assertThat(alice.cid()).hasValue(70000);
    assertThat(alice.region()).isEqualTo("/dev/shm/a");
    assertThat(alice.domain()).isEqualTo("graft-alice");
    assertThat(alice.token()).isEqualTo(TOKEN);
    assertThat(alice.settings())
        .isEqualTo(
            "memory=1024 guest-memory=4096 max-sessions=3 device=1 cid=70000 region=/dev/shm/a"
                + " domain=graft-alice");
    assertThat(grants.get("bob").memory()).isEmpty();
    assertThat(grants.get("bob").settings()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-r--r--", "rw----r--", "rw-rw----", "rw--w----", "rwx------"})
  void aFileThatIsNotPrivateIsRefused(String mode) throws Exception {
    TokensFile file = file("alice " + TOKEN, mode);
    assertThatThrownBy(file::read)
        .isInstanceOf(IOException.class)
        .hasMessageContaining(mode)
        .hasMessageContaining("chmod 600");
  }

  @Test
  void aMissingFileIsSaidToBeMissing() {
    assertThatThrownBy(() -> new TokensFile(folder.resolve("none")).read())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("is not there");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "alice",
        "alice 0123",
        "alice zz23456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "a=b 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "alice 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef memory=lots",
        "alice 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef device=12345",
        "alice 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef max-sessions=-1",
        "alice 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef guest-memory=1GiB",
        "alice 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef color=red",
        "alice 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef class=gold",
        "alice 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef class=guaranteed",
        "alice 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef class=best-effort compute=5",
        "alice 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef compute=0",
        "alice 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef compute=101",
        "alice 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef compute=-1",
        "alice 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef priority=low",
        "alice 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef region=a",
        "alice 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef domain=",
        "alice 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef expires=never",
        "alice 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef expires=-1"
      })
  void aWrongLineIsNamedButItsTokenIsNot(String line) throws Exception {
    TokensFile file = file("\n" + line + "\n", "rw-------");
    assertThatThrownBy(file::read)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("tokens:2:")
        .message()
        .doesNotContain("456789");
  }

  @Test
  void aLineCountsAsDeletedFromTheSecondThatItNames() throws Exception {
    TokensFile file =
        file(
            "job "
                + TOKEN
                + " expires=1000\nbob "
                + TOKEN
                + "\nlater "
                + TOKEN
                + " expires=1500\n"
                + "wrong "
                + TOKEN
                + " expires=1200 colour=red\n",
            "rw-------");
    TokenLines lines = file.readLines();
    assertThat(lines.nextExpiry()).hasValue(1000);
    assertThat(lines.at(Instant.ofEpochSecond(999)).grants()).containsKey("job");
    TokenLines then = lines.at(Instant.ofEpochSecond(1000));
    assertThat(then.grants()).containsOnlyKeys("bob", "later");
    assertThat(then.names("job")).isFalse();
    assertThat(then.names("wrong")).isTrue();
    assertThat(then.nextExpiry()).hasValue(1200);
    TokenLines last = lines.at(Instant.ofEpochSecond(1500));
    assertThat(last.names("wrong")).isFalse();
    assertThat(last.nextExpiry()).isEmpty();
  }

  @Test
  void aCertificatesNameStandsInPlaceOfAToken() throws Exception {
    Map<String, Grant> grants =
        file(
                "node07 certificate=Node07.cluster.example max-sessions=8 class=best-effort\n"
                    + "bob "
                    + TOKEN
                    + "\n",
                "rw-------")
            .read();
    Grant node = grants.get("node07");
    assertThat(node.hasCertificate()).isTrue();
    assertThat(node.certificate()).isEqualTo("Node07.cluster.example");
    assertThat(node.token()).isEmpty();
    assertThat(node.maxSessions()).hasValue(8);
    assertThat(node.share()).isPresent();
    assertThat(node.settings()).isEqualTo("max-sessions=8 class=best-effort");
    assertThat(grants.get("bob").hasCertificate()).isFalse();
    assertThat(grants.get("bob").certificate()).isEmpty();
    assertThat(node.fingerprint()).isNotEqualTo(grants.get("bob").fingerprint());
  }

  /** A name is compared as a whole; a pattern that matches nothing would be a surprise. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "node07 certificate=",
        "node07 certificate=*.cluster.example",
        "node07 certificate=node0?",
        "node07 certificate=CN=node07",
        "node07 certificate=\"node 07\"",
        "node07 max-sessions=8 certificate=node07",
        "node07 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef certificate=node07",
        "node07 certificate=node07 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
      })
  void aCertificateThatIsNotNamedIsRefused(String line) throws Exception {
    TokensFile file = file("\n" + line + "\n", "rw-------");
    assertThatThrownBy(file::read)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("tokens:2:")
        .message()
        .doesNotContain("456789");
  }

  @Test
  void aNameMayBeThereOnce() throws Exception {
    TokensFile file = file("alice " + TOKEN + "\nalice " + TOKEN + "\n", "rw-------");
    assertThatThrownBy(file::read).hasMessageContaining("tokens:2:").hasMessageContaining("twice");
  }

  @Test
  void theSecretIsInNoText() throws Exception {
    assertThat(file("alice " + TOKEN, "rw-------").read().toString()).doesNotContain("0123");
  }

  @Test
  void whatIsWrittenHasALineForEachName() throws Exception {
    TokensFile file = new TokensFile(folder.resolve("tokens"));
    assertThat(file.readIfThere()).isEmpty();
    file.grant("alice", TOKEN, "memory=1024 cid=70000");
    file.grant("bob", TOKEN, "");
    file.grant("alice", TokensFile.fresh(), "");
    file.grant("alice", TOKEN, "memory=2048 cid=70000");
    assertThat(file.path())
        .hasContent("alice " + TOKEN + " memory=2048 cid=70000\nbob " + TOKEN + "\n");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.path())))
        .isEqualTo("rw-------");
    assertThat(file.read()).containsOnlyKeys("alice", "bob");
    file.revoke("carol");
    file.revoke("alice");
    assertThat(file.path()).hasContent("bob " + TOKEN + "\n");
  }

  @Test
  void aLineThatNoServerCouldReadIsNotWritten() {
    TokensFile file = new TokensFile(folder.resolve("tokens"));
    assertThatThrownBy(() -> file.grant("alice", "0123", ""))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> file.grant("alice", TOKEN, "color=red"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(file.path()).doesNotExist();
  }

  @Test
  void accessIsTakenAwayAlsoInAFileWithWrongLines() throws Exception {
    TokensFile file = file("alice 0123\nbob " + TOKEN + "\n", "rw-------");
    file.revoke("bob");
    assertThat(file.path()).hasContent("alice 0123\n");
    file.revoke("alice");
    assertThat(file.read()).isEmpty();
  }

  @Test
  void aServerReadsEachLineForItself() throws Exception {
    TokensFile file =
        file(
            String.join(
                "\n",
                "alice " + TOKEN + " colour=red memory=1024 " + TOKEN + " sessions=own",
                "bob " + TOKEN,
                "carol 0123",
                "dave " + TOKEN,
                "dave " + TOKEN + " memory=1",
                TOKEN + " memory=1",
                TOKEN,
                "erin " + TOKEN + " class=guaranteed"),
            "rw-------");
    TokenLines lines = file.readLines();
    assertThat(lines.grants()).containsOnlyKeys("bob");
    assertThat(lines.wrong())
        .extracting(file::describe)
        .map(text -> text.replaceFirst(".*tokens:", ""))
        .containsExactly(
            "1: the setting colour= is unknown or has a wrong value, setting 3 after the token is"
                + " none",
            "3: after the name comes a token of 64 hexadecimal digits, or certificate=NAME with the"
                + " DNS name of a certificate, or its common name, without patterns",
            "5: the name dave is there twice, first in line 4",
            "6: a name has at most 63 bytes and none of # =",
            "7: a name has at most 63 bytes and none of # =",
            "8: a guaranteed guest needs compute=PERCENT");
    assertThat(lines.toString()).doesNotContain("456789");
    assertThat(lines.names("carol")).isTrue();
    assertThat(lines.names("frank")).isFalse();
    assertThat(lines.endsOthers("alice", "another token's")).isTrue();
    assertThat(lines.endsOthers("bob", "another token's")).isFalse();
    assertThatThrownBy(file::read)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("tokens:1:");
  }

  @Test
  void whoeverChangesALineLosesNoOther() throws Exception {
    String others = "# of the lab\n\n  carol 0123 colour=red\nbob " + TOKEN + " later=1\n";
    TokensFile file = file(others + "alice 1\nalice " + TOKEN + "\n# the end\n", "rw-------");
    file.grant("alice", TOKEN, "memory=1");
    assertThat(file.path()).hasContent(others + "alice " + TOKEN + " memory=1\n# the end\n");
    file.revoke("alice");
    file.grant("erin", TOKEN, "");
    assertThat(file.path()).hasContent(others + "# the end\nerin " + TOKEN + "\n");
  }
}
