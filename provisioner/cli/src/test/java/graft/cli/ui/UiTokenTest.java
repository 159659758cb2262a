package graft.cli.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page's token. */
class UiTokenTest {
  @TempDir Path folder;

  private Path file(String content, String mode) throws Exception {
    Path file = Files.writeString(folder.resolve("token"), content);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  @Test
  void aFileIsMadeForItsOwnerAloneAndIsReadAgain() throws Exception {
    Path file = folder.resolve("token");
    UiToken made = UiToken.in(file);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(made.secret()).matches("[0-9a-f]{64}");
    assertThat(UiToken.in(file).is(made.secret())).isTrue();
  }

  @Test
  void onlyTheWholeTokenIsTheToken() {
    UiToken token = UiToken.make();
    assertThat(token.is(token.secret())).isTrue();
    assertThat(token.is("")).isFalse();
    assertThat(token.is(token.secret().substring(1))).isFalse();
    assertThat(token.is(token.secret() + "0")).isFalse();
    assertThat(token.is(UiToken.make().secret())).isFalse();
    assertThat(token.toString()).doesNotContain(token.secret());
  }

  @Test
  void aFileThatOthersMayReadALinkAndWhatIsNoTokenAreRefused() throws Exception {
    String good = "0".repeat(64) + "\n";
    for (String mode : new String[] {"rw-r-----", "rw----r--", "rw--w----"}) {
      Path open = file(good, mode);
      assertThatThrownBy(() -> UiToken.in(open))
          .as(mode)
          .isInstanceOf(GraftException.class)
          .hasMessageContaining("only this user");
    }
    for (String content : new String[] {"", "short", "x".repeat(64), good.repeat(100)}) {
      Path wrong = file(content, "rw-------");
      assertThatThrownBy(() -> UiToken.in(wrong)).hasMessageContaining("no token");
    }
    Path link = Files.createSymbolicLink(folder.resolve("link"), file(good, "rw-------"));
    assertThatThrownBy(() -> UiToken.in(link)).hasMessageContaining("only this user");
  }
}
