package graft.deployment.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import graft.hypervisors.libvirt.domain.Boot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SubordinateIdsTest {
  private static final Boot.IdRange FIRST = SubordinateIds.free(List.of());
  private static final String OTHERS = "alice:100000:65536\n";

  @TempDir Path folder;
  private SubordinateIds ids;

  @BeforeEach
  void make() throws IOException {
    ids = new SubordinateIds(folder, folder.resolve("lock"));
    Files.writeString(folder.resolve("subuid"), OTHERS);
    Files.writeString(folder.resolve("subgid"), OTHERS);
  }

  @Test
  void nobodyGetsWhatSomebodyHas() {
    Boot.IdRange second = SubordinateIds.free(List.of(new Boot.IdRange(FIRST.first() + 5, 1)));
    assertThat(second.first()).isEqualTo(FIRST.first() + SubordinateIds.COUNT);
    assertThat(second.overlaps(FIRST)).isFalse();
    Boot.IdRange workers = new Boot.IdRange(1_990_000_000, 10_000); // the usual --worker-users
    assertThat(FIRST.overlaps(workers)).isFalse();
  }

  @Test
  void registeringTwiceIsOnceAndRemovingRestoresTheFilesByteForByte() throws IOException {
    ids.register("graft-lab-a", FIRST);
    ids.register("graft-lab-a", FIRST);
    for (String file : List.of("subuid", "subgid")) {
      assertThat(folder.resolve(file))
          .hasContent(OTHERS + "graft-lab-a:" + FIRST.first() + ":65536\n");
    }
    assertThat(ids.taken()).contains(FIRST);
    ids.remove("graft-lab-a", FIRST);
    ids.remove("graft-lab-a", FIRST);
    assertThat(Files.readString(folder.resolve("subuid"))).isEqualTo(OTHERS);
    assertThat(Files.readString(folder.resolve("subgid"))).isEqualTo(OTHERS);
  }

  /** useradd(8) leaves such a file when it is killed, and waits while there is one. */
  @Test
  void theLockOfUseraddIsTaken() throws Exception {
    Path lock = folder.resolve("subuid.lock");
    Files.writeString(lock, "4194999\0"); // no process has that number
    ids.register("graft-lab-a", FIRST);
    assertThat(lock).doesNotExist();
    Files.writeString(lock, "" + ProcessHandle.current().pid());
    assertThatIOException()
        .isThrownBy(() -> ShadowLock.of(folder.resolve("subuid"), Duration.ofMillis(200)))
        .withMessageContaining("subuid.lock is held");
    Files.delete(lock);
    ShadowLock held = ShadowLock.of(folder.resolve("subuid"), Duration.ZERO);
    assertThat(lock).hasContent("" + ProcessHandle.current().pid());
    held.release();
    assertThat(lock).doesNotExist();
    assertThat(folder.resolve("subuid." + ProcessHandle.current().pid())).doesNotExist();
  }

  @Test
  void onlyALineInBothFilesIsARegistration() throws IOException {
    String own = SubordinateIds.line("graft-lab-a", FIRST);
    Files.writeString(folder.resolve("subuid"), OTHERS + own + "\n");
    assertThat(ids.inBoth()).doesNotContain(own);
    ids.register("graft-lab-a", FIRST);
    assertThat(ids.inBoth()).contains(own);
  }

  /** A process that was killed between the two files goes on. */
  @Test
  void halfARegistrationIsFinishedAndUndone() throws IOException {
    String own = "graft-lab-a:" + FIRST.first() + ":65536\n";
    Files.writeString(folder.resolve("subuid"), OTHERS + own);
    Files.writeString(folder.resolve(".subgid.graft"), "half");
    ids.register("graft-lab-a", FIRST);
    assertThat(Files.readString(folder.resolve("subgid"))).isEqualTo(OTHERS + own);
    Files.writeString(folder.resolve("subgid"), OTHERS);
    ids.remove("graft-lab-a", FIRST);
    assertThat(Files.readString(folder.resolve("subuid"))).isEqualTo(OTHERS);
  }

  @Test
  void whatSomebodyElseRegisteredMeanwhileIsRefused() throws IOException {
    Files.writeString(folder.resolve("subgid"), "bob:" + (FIRST.first() + 100) + ":1\n");
    assertThatIOException()
        .isThrownBy(() -> ids.register("graft-lab-a", FIRST))
        .withMessageContaining("already lists some of these users: bob");
  }

  @Test
  void theFilesKeepTheirMode() throws IOException {
    var before = Files.getPosixFilePermissions(folder.resolve("subuid"));
    ids.register("graft-lab-a", FIRST);
    assertThat(Files.getPosixFilePermissions(folder.resolve("subuid"))).isEqualTo(before);
  }
}
