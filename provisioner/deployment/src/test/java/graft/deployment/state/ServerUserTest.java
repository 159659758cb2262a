package graft.deployment.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerUserTest {
  private static final int SERVERS = 4;

  @TempDir Path folder;
  private ServerUser user;

  @BeforeEach
  void thisUser() throws Exception {
    PosixFileAttributes attributes = Files.readAttributes(folder, PosixFileAttributes.class);
    user = new ServerUser(attributes.owner(), attributes.group());
  }

  @Test
  void serversThatStartTogetherMakeOneFolder() throws Exception {
    ExecutorService servers = Executors.newFixedThreadPool(SERVERS);
    try {
      for (int i = 0; i < 100; i++) {
        Path shared = folder.resolve("arbiters" + i);
        CyclicBarrier together = new CyclicBarrier(SERVERS);
        List<Future<?>> made = new ArrayList<>();
        for (int server = 0; server < SERVERS; server++) {
          made.add(
              servers.submit(
                  () -> {
                    together.await();
                    user.makeFolder(shared);
                    return null;
                  }));
        }
        for (Future<?> each : made) {
          each.get();
        }
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(shared)))
            .isEqualTo("rwx------");
      }
    } finally {
      servers.shutdownNow();
    }
  }

  @Test
  void aLinkIsNotTheFolder() throws Exception {
    Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
    Files.setPosixFilePermissions(elsewhere, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path link = Files.createSymbolicLink(folder.resolve("arbiters"), elsewhere);
    assertThatThrownBy(() -> user.makeFolder(link)).isInstanceOf(FileAlreadyExistsException.class);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(elsewhere)))
        .isEqualTo("rwxr-xr-x");
  }
}
