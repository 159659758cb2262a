package graft.deployment.step.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.common.program.CurrentUser;
import graft.deployment.step.StepFailure;
import graft.deployment.step.host.MakeSocketFolder;
import graft.guests.payload.FileStamp;
import graft.hypervisors.libvirt.domain.Boot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The steps of containers are done and undone after they were killed at any moment. */
class ContainerStepsTest {
  private static final Boot.IdRange IDS = new Boot.IdRange(0x50000000L, 65_536);

  @TempDir Path folder;
  private Path source;
  private Path container;
  private MakeRoot step;

  @BeforeEach
  void make() throws IOException {
    assumeTrue(CurrentUser.isRoot(), "only root gives files to others");
    source = Files.createDirectories(folder.resolve("source/sbin")).getParent();
    Files.writeString(source.resolve("sbin/init"), "#!/bin/sh");
    container = folder.resolve("container");
    step = new MakeRoot("alice", new FileStamp(source, 0, 0), container, IDS);
  }

  private static Object attribute(Path file, String name) throws IOException {
    return Files.getAttribute(file, "unix:" + name, LinkOption.NOFOLLOW_LINKS);
  }

  @Test
  void onlyTheContainersRootEntersTheFolder() throws IOException {
    step.apply(null);
    assertThat((int) attribute(container, "mode") & 07777).isEqualTo(0700);
    assertThat(attribute(container, "uid")).isEqualTo(0x50000000);
    assertThat(MakeRoot.root(container).resolve("sbin/init")).hasContent("#!/bin/sh");
  }

  @Test
  void whatAKilledRunLeftIsNoPartOfTheRoot() throws IOException {
    Path left = Files.createDirectories(MakeRoot.root(container).resolve("etc"));
    Files.writeString(left.resolve("half"), "");
    step.apply(null);
    assertThat(left).doesNotExist();
    assertThat(MakeRoot.root(container).resolve("sbin/init")).exists();
    step.undo(null, Map.of());
    step.undo(null, Map.of());
    assertThat(container).doesNotExist();
  }

  /** The container may have replaced any of its files by a link, and nested folders for ever. */
  @Test
  void undoFollowsNoLinkAndReachesTheDeepestFolder() throws Exception {
    step.apply(null);
    Path victim = Files.createDirectory(folder.resolve("victim"));
    Files.writeString(victim.resolve("file"), "as it was");
    Files.createSymbolicLink(MakeRoot.root(container).resolve("out"), victim);
    String deep =
        "cd \"$1\"; i=0; while [ $i -lt 300 ]; do mkdir dddddddddddddddddddd; cd"
            + " dddddddddddddddddddd; i=$((i+1)); done";
    Process nested =
        new ProcessBuilder(
                List.of("/bin/sh", "-c", deep, "sh", MakeRoot.root(container).toString()))
            .start();
    assertThat(nested.waitFor()).isZero();
    step.undo(null, Map.of());
    assertThat(container).doesNotExist();
    assertThat(victim.resolve("file")).hasContent("as it was");
  }

  @Test
  void aSourceThatCannotBeCopiedIsNamed() {
    MakeRoot missing =
        new MakeRoot("alice", new FileStamp(folder.resolve("none"), 0, 0), container, IDS);
    assertThatThrownBy(() -> missing.apply(null))
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("cannot make the root folder of 'alice'");
  }

  @Test
  void aSocketsFolderIsMadeAndRemovedHoweverOften() throws IOException {
    Path sockets = folder.resolve("sockets/alice");
    MakeSocketFolder made = new MakeSocketFolder("gpu0", "alice", sockets, false, IDS.first());
    made.apply(null);
    made.apply(null);
    assertThat((int) attribute(sockets, "mode") & 07777).isEqualTo(02711);
    assertThat(attribute(sockets, "gid")).isEqualTo(0x50000000);
    Path socket = Files.createFile(MakeSocketFolder.socket(sockets));
    assertThat(attribute(socket, "gid")).as("by the setgid bit").isEqualTo(0x50000000);
    made.undo(null, Map.of());
    made.undo(null, Map.of());
    assertThat(sockets.getParent()).doesNotExist();
  }

  /** Another umask made the folder above for root alone. */
  @Test
  void everybodyMayPassTheFolderAboveSocketsFolders() throws IOException {
    Path sockets = folder.resolve("sockets/alice");
    Files.setPosixFilePermissions(
        Files.createDirectory(sockets.getParent()), PosixFilePermissions.fromString("rwx------"));
    new MakeSocketFolder("gpu0", "alice", sockets, false, IDS.first()).apply(null);
    assertThat((int) attribute(sockets.getParent(), "mode") & 07777).isEqualTo(0711);
  }

  /** Terminals give few bytes for each read, so that bytes are counted, not reads. */
  @Test
  void theFirst16MibOfAConsoleAreKeptAndTheRestIsRead() throws Exception {
    Path pipe = folder.resolve("pipe");
    Path log = folder.resolve("log");
    String writer =
        "mkfifo \"$1\" && { i=0; while [ $i -lt 1000 ]; do echo line $i; i=$((i+1)); done;"
            + " head -c 20000000 /dev/zero; } >\"$1\"";
    Process written =
        new ProcessBuilder(List.of("/bin/sh", "-c", writer, "sh", pipe.toString())).start();
    while (Files.notExists(pipe)) {
      Thread.sleep(10);
    }
    Process read =
        new ProcessBuilder(
                List.of(
                    "/bin/sh",
                    "-c",
                    ContainerConsole.READER,
                    "sh",
                    pipe.toString(),
                    log.toString()))
            .start();
    assertThat(written.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(written.exitValue()).as("nothing waits for a reader").isZero();
    assertThat(read.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(log).hasSize(16 << 20);
    assertThat((int) attribute(log, "mode") & 07777).isEqualTo(0600);
  }

  /** The server's user owns the folder, and may have put a link in the place of the socket. */
  @Test
  void removingASocketsFolderRemovesNothingElse() throws IOException {
    Path sockets = folder.resolve("sockets/alice");
    MakeSocketFolder made = new MakeSocketFolder("gpu0", "alice", sockets, false, IDS.first());
    made.apply(null);
    Path victim = Files.writeString(folder.resolve("victim"), "as it was");
    Files.createSymbolicLink(MakeSocketFolder.socket(sockets), victim);
    Path other = Files.createFile(sockets.resolve("other"));
    made.undo(null, Map.of());
    assertThat(victim).hasContent("as it was");
    assertThat(other).exists();
  }
}
