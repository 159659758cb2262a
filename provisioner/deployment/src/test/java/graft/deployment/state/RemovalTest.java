package graft.deployment.state;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.disk.PrivateFiles;
import graft.common.disk.StateDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Guests of a deployment are undone in parallel: the last one removes the folder of all. */
final class RemovalTest {
  @TempDir Path folder;

  private StateDisk before;

  /** Removes the folder above at the moment when another chain would. */
  private void removeParentWith(Path last) {
    before =
        StateDisk.replace(
            new StateDisk() {
              @Override
              public boolean delete(Path path) throws IOException {
                boolean there = super.delete(path);
                if (path.equals(last)) {
                  Files.delete(path.getParent());
                }
                return there;
              }
            });
  }

  @AfterEach
  void putBack() {
    StateDisk.replace(before);
  }

  @Test
  void aFolderWhoseParentGoesAtTheSameTime() throws IOException {
    Path guest = Files.createDirectories(folder.resolve("all/guest"));
    Files.writeString(guest.resolve("disk"), "content");
    removeParentWith(guest);
    PrivateFiles.deleteFolder(guest);
    assertThat(folder.resolve("all")).doesNotExist();
  }

  @Test
  void aFileWhoseFolderGoesAtTheSameTime() throws IOException {
    Path file = Files.createDirectories(folder.resolve("all")).resolve("file");
    Files.writeString(file, "content");
    removeParentWith(file.resolveSibling("file.unfinished"));
    PrivateFiles.delete(file);
    assertThat(folder.resolve("all")).doesNotExist();
  }
}
