package graft.deployment.observe;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is said of a file that a descriptor names for a node's token. */
class TokenFileTest {
  private static final String TOKEN = "0123456789abcdef".repeat(4);

  @TempDir Path folder;

  private String problem(String mode, byte[] content) throws IOException {
    Path file = folder.resolve("token");
    Files.write(file, content);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    FileObserver observer = new FileObserver();
    observer.look(file);
    observer.lookForToken(file);
    return observer.files().get(file).tokenProblem();
  }

  @Test
  void aTokenOfItsOwnerAloneCanBeUsed() throws Exception {
    assertThat(problem("rw-------", (TOKEN + "\n").getBytes(UTF_8))).isEmpty();
  }

  @Test
  void othersMayNotReadIt() throws Exception {
    assertThat(problem("rw-r-----", TOKEN.getBytes(UTF_8)))
        .isEqualTo("other users may read it (rw-r-----)");
  }

  @Test
  void whatIsNoTokenIsNeverQuoted() throws Exception {
    for (String content :
        new String[] {"", "abc", TOKEN + "0", "alice " + TOKEN, "a".repeat(9999)}) {
      assertThat(problem("rw-------", content.getBytes(UTF_8)))
          .isEqualTo("it does not hold a token, which is 64 hexadecimal digits and nothing else");
    }
    assertThat(problem("rw-------", new byte[] {(byte) 0xff})).isEqualTo("it is not text");
  }

  @Test
  void aFileThatIsMissingIsNoTokensFault() {
    FileObserver observer = new FileObserver();
    observer.look(folder.resolve("none"));
    observer.lookForToken(folder.resolve("none"));
    assertThat(observer.files()).isEmpty();
  }
}
