package graft.deployment.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import graft.deployment.step.guest.UnfinishedRestore;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Snapshots of a guest with three disks: a change of one disk is atomic, one of three is not. */
class GuestSnapshotsTest {
  private static final SnapshotName ONE = new SnapshotName("one");
  private static final SnapshotName TWO = new SnapshotName("two");
  private static final int DISKS = 3;

  @TempDir Path folder;
  private ModelImages images;
  private List<GuestDisk> disks;
  private GuestSnapshots snapshots;

  @BeforeEach
  void aGuest() {
    images = new ModelImages();
    disks = new ArrayList<>();
    for (String name : List.of("root", "data", "more")) {
      disks.add(new GuestDisk(name, folder.resolve(name)));
    }
    snapshots = new GuestSnapshots("alice", disks, images);
    write("first");
  }

  private void write(String content) {
    disks.forEach(disk -> images.write(disk.file(), content));
  }

  private List<String> content() {
    return disks.stream().map(disk -> images.content(disk.file())).toList();
  }

  private List<GuestSnapshot.Kind> kinds() throws Exception {
    return snapshots.list().stream().map(GuestSnapshot::kind).toList();
  }

  private interface Command {
    void run() throws Exception;
  }

  private void killedAfter(int changes, Command command) throws Exception {
    images.killAfter(changes);
    assertThatThrownBy(command::run).isInstanceOf(ModelImages.Killed.class);
    images.neverKill();
  }

  @Test
  void aSnapshotIsRestoredAsOftenAsOneLikes() throws Exception {
    GuestSnapshot made = snapshots.create(ONE);
    assertThat(made.disks()).containsExactly("root", "data", "more");
    assertThat(made.kind()).isEqualTo(GuestSnapshot.Kind.WHOLE);
    for (int i = 0; i < 2; i++) {
      write("later");
      snapshots.restore(ONE);
      assertThat(content()).containsOnly("first");
    }
    write("second");
    snapshots.create(TWO);
    assertThat(snapshots.list().stream().map(GuestSnapshot::name)).containsExactly("one", "two");
    snapshots.delete(ONE);
    assertThat(snapshots.list().stream().map(GuestSnapshot::name)).containsExactly("two");
    assertThat(content()).containsOnly("second");
    assertThat(snapshots.content().bytes()).isEqualTo(3000);
  }

  @Test
  void aNameIsTakenOnce() throws Exception {
    snapshots.create(ONE);
    write("later");
    assertThatThrownBy(() -> snapshots.create(ONE))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("has a snapshot 'one' already: whole");
    snapshots.restore(ONE);
    assertThat(content()).containsOnly("first");
    assertThatThrownBy(() -> snapshots.restore(new SnapshotName("on")))
        .hasMessageContaining("no snapshot 'on'");
    assertThatThrownBy(() -> snapshots.delete(TWO)).hasMessageContaining("no snapshot 'two'");
  }

  @Test
  void oneThatIsMadeInPartIsNamedAndCanOnlyBeDeleted() throws Exception {
    for (int changes = 1; changes < DISKS; changes++) {
      killedAfter(changes, () -> snapshots.create(ONE));
      assertThat(kinds()).containsExactly(GuestSnapshot.Kind.PARTIAL);
      write("later");
      assertThatThrownBy(() -> snapshots.restore(ONE)).hasMessageContaining("is not whole");
      assertThatThrownBy(() -> snapshots.create(ONE)).hasMessageContaining("already: made or");
      assertThat(content()).containsOnly("later");
      snapshots.delete(ONE);
      assertThat(snapshots.list()).isEmpty();
    }
    killedAfter(0, () -> snapshots.create(ONE));
    assertThat(snapshots.list()).isEmpty();
  }

  @Test
  void oneThatIsDeletedInPartIsNamedAndCanOnlyBeDeleted() throws Exception {
    for (int changes = 1; changes < DISKS; changes++) {
      snapshots.create(ONE);
      killedAfter(changes, () -> snapshots.delete(ONE));
      assertThat(kinds()).containsExactly(GuestSnapshot.Kind.PARTIAL);
      assertThatThrownBy(() -> snapshots.restore(ONE)).hasMessageContaining("is not whole");
      snapshots.delete(ONE);
      assertThat(snapshots.list()).isEmpty();
    }
    snapshots.create(ONE);
    killedAfter(0, () -> snapshots.delete(ONE));
    assertThat(kinds()).containsExactly(GuestSnapshot.Kind.WHOLE);
  }

  @Test
  void aRestoreThatWasInterruptedIsMarkedUntilARestoreEnds() throws Exception {
    snapshots.create(ONE);
    write("second");
    snapshots.create(TWO);
    for (SnapshotName other : List.of(ONE, TWO)) {
      for (int changes = 0; changes < DISKS; changes++) {
        write("later");
        killedAfter(changes, () -> snapshots.restore(ONE));
        assertThat(UnfinishedRestore.of(disks.get(0).file())).isEqualTo(Optional.of("one"));
        assertThat(kinds()).containsExactly(GuestSnapshot.Kind.RESTORING, GuestSnapshot.Kind.WHOLE);
        for (SnapshotName name : List.of(ONE, TWO)) {
          assertThatThrownBy(() -> snapshots.delete(name)).hasMessageContaining("in part");
        }
        assertThatThrownBy(() -> snapshots.create(new SnapshotName("three")))
            .hasMessageContaining("its snapshot 'one' was restored in part");
        snapshots.restore(other);
        assertThat(content()).containsOnly(other.equals(ONE) ? "first" : "second");
        assertThat(UnfinishedRestore.of(disks.get(0).file())).isEmpty();
      }
    }
  }

  @Test
  void aDiskThatFailsLeavesNoPartOfASnapshot() throws Exception {
    for (GuestDisk disk : disks) {
      images.fail(disk.file());
      assertThatThrownBy(() -> snapshots.create(ONE))
          .isInstanceOf(GraftException.class)
          .hasMessageContaining("the disk '" + disk.name() + "' of 'alice': No space left");
      images.fail(null);
      assertThat(snapshots.list()).isEmpty();
    }
  }

  @Test
  void aDiskThatWasMadeLaterStaysAsItIs() throws Exception {
    new GuestSnapshots("alice", disks.subList(0, 2), images).create(ONE);
    GuestSnapshot found = snapshots.list().get(0);
    assertThat(found.kind()).isEqualTo(GuestSnapshot.Kind.WHOLE);
    assertThat(found.lacking()).containsExactly("more");
    write("later");
    assertThat(snapshots.data(found)).hasSize(2).allMatch(one -> !one.contains("'more'"));
    snapshots.restore(ONE);
    assertThat(content()).containsExactly("first", "first", "later");
  }

  @Test
  void whatRestoringAndDeletingDeleteIsSaidWithTheFiles() throws Exception {
    GuestSnapshot made = snapshots.create(ONE);
    assertThat(snapshots.data(made).get(0))
        .isEqualTo(
            "what the disk 'root' of alice got since 1970-01-01T00:00:00Z, "
                + folder.resolve("root"));
    assertThat(snapshots.snapshotData(made).get(0))
        .startsWith("the snapshot 'one' of alice from 1970-01-01T00:00:00Z, in ")
        .endsWith(
            folder.resolve("root")
                + " and "
                + folder.resolve("data")
                + " and "
                + folder.resolve("more"));
  }

  @Test
  void oneOfARunningGuestIsLeftToTheProgramThatMadeIt() throws Exception {
    images.addWithMemory(disks.get(0).file(), "one");
    assertThat(kinds()).containsExactly(GuestSnapshot.Kind.WITH_MEMORY);
    assertThatThrownBy(() -> snapshots.restore(ONE)).hasMessageContaining("virsh snapshot-revert");
    assertThatThrownBy(() -> snapshots.delete(ONE)).hasMessageContaining("virsh");
    assertThatThrownBy(() -> snapshots.create(ONE)).hasMessageContaining("already");
  }

  @Test
  void namesAreNamesToQemuImgToo() {
    for (String name : List.of("a", "before-upgrade", "Nightly_2.1", "a".repeat(63))) {
      assertThat(SnapshotName.parse(name).text()).isEqualTo(name);
    }
    for (String name :
        List.of("", "1", "2026-11-26", "-d", "--", "a b", "a\nb", "a/../b", "ä", "a".repeat(64))) {
      assertThatThrownBy(() -> SnapshotName.parse(name))
          .as(name)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
