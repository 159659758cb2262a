package graft.deployment.state;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderAccessTest {
  @TempDir Path temporary;
  private Path root;
  private Path lab;

  @BeforeEach
  void make() throws Exception {
    root = Files.createDirectory(temporary.resolve("graft"));
    lab = Files.createDirectory(root.resolve("lab"));
    mode(root, 0755);
    mode(lab, 0700);
  }

  private static void mode(Path path, int mode) throws Exception {
    Files.setAttribute(path, "unix:mode", mode);
  }

  @Test
  void aFolderOfOnesOwnIsFine() throws Exception {
    assertThatCode(() -> FolderAccess.check(lab)).doesNotThrowAnyException();
    mode(lab, 0755);
    assertThatCode(() -> FolderAccess.check(lab)).doesNotThrowAnyException();
    assertThatCode(() -> FolderAccess.check(root.resolve("new"))).doesNotThrowAnyException();
    assertThatCode(() -> FolderAccess.check(temporary.resolve("new/lab")))
        .doesNotThrowAnyException();
  }

  @Test
  void aFolderThatOthersWriteToIsRefusedWithTheRemedy() throws Exception {
    for (int mode : new int[] {0777, 0770, 0702, 01777}) {
      mode(lab, mode);
      assertThatThrownBy(() -> FolderAccess.check(lab))
          .isInstanceOf(GraftException.class)
          .hasMessageContaining("other users can write to the state folder " + lab)
          .hasMessageContaining(String.format("(mode %04o)", mode))
          .extracting(e -> ((GraftException) e).next())
          .asString()
          .endsWith("chmod 700 " + lab);
    }
  }

  @Test
  void theFolderOfAllDeploymentsIsCheckedToo() throws Exception {
    mode(root, 0777);
    assertThatThrownBy(() -> FolderAccess.check(lab))
        .hasMessageContaining("other users can write to the state folder " + root + " (mode 0777)");
    assertThatThrownBy(() -> FolderAccess.check(root.resolve("new")))
        .isInstanceOf(GraftException.class);
  }

  @Test
  void inAStickyFolderOneNeedsAFolderOfOnesOwn() throws Exception {
    mode(root, 01777);
    assertThatCode(() -> FolderAccess.check(lab)).doesNotThrowAnyException();
    // Another user's, as far as this user can make one: only root can.
    if (graft.common.program.CurrentUser.isRoot()) {
      Files.setAttribute(lab, "unix:uid", 65534);
      assertThatThrownBy(() -> FolderAccess.check(lab)).hasMessageContaining("another user");
    }
  }
}
