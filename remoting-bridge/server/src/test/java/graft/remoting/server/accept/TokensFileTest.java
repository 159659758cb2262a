package graft.remoting.server.accept;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
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
                    + " memory=1024 device=1 cid=70000 region=/dev/shm/a domain=graft-alice\nbob\t"
                    + TOKEN
                    + "\n",
                "rw-------")
            .read();
    assertThat(grants).containsOnlyKeys("alice", "bob");
    Grant alice = grants.get("alice");
    assertThat(alice.memory()).hasValue(1024);
    assertThat(alice.device()).hasValue(1);
    assertThat(alice.cid()).hasValue(70000);
    assertThat(alice.region()).isEqualTo("/dev/shm/a");
    assertThat(alice.domain()).isEqualTo("graft-alice");
    assertThat(alice.token().array()).hasSize(32).startsWith(0x01, 0x23);
    assertThat(grants.get("bob").memory()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-r--r--", "rw----r--", "rw-rw----", "rw--w----", "rwx------"})
  void aFileThatIsNotPrivateIsRefused(String mode) throws Exception {
    TokensFile file = file("alice " + TOKEN, mode);
    assertThatThrownBy(file::read)
        .isInstanceOf(ServerException.class)
        .hasMessageContaining(mode)
        .hasMessageContaining("chmod 600");
  }

  @Test
  void aMissingFileIsSaidToBeMissing() {
    assertThatThrownBy(new TokensFile(folder.resolve("none"))::read)
        .isInstanceOf(ServerException.class)
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
        "alice 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef color=red",
        "alice 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef region=a",
        "alice 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef domain="
      })
  void aWrongLineIsNamedButItsTokenIsNot(String line) throws Exception {
    TokensFile file = file("\n" + line + "\n", "rw-------");
    assertThatThrownBy(file::read)
        .isInstanceOf(ServerException.class)
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
}
