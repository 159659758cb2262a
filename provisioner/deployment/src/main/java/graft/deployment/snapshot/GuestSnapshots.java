package graft.deployment.snapshot;

import graft.common.GraftException;
import graft.common.bind.Spelling;
import graft.deployment.step.guest.UnfinishedRestore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The snapshots of a guest's disks. A change of one disk is atomic, one of several is not, and the
 * disks alone tell how far it went. The first disk is therefore the last that gets a snapshot and
 * the first that loses it: a snapshot is whole if the first disk has it. While disks are being
 * restored, {@link UnfinishedRestore} marks the guest.
 */
final class GuestSnapshots {
  private final String guest;
  private final List<GuestDisk> disks;
  private final DiskImages images;

  /**
   * The snapshots of a guest that is off, or those of a running one to be listed.
   *
   * @param disks that snapshots cover; not empty
   */
  GuestSnapshots(String guest, List<GuestDisk> disks, DiskImages images) {
    this.guest = guest;
    this.disks = List.copyOf(disks);
    this.images = images;
  }

  private GuestDisk first() {
    return disks.get(0);
  }

  /**
   * What the disks hold.
   *
   * @param bytes what their files take on the host, with all their snapshots
   * @param snapshots oldest first
   */
  record Content(long bytes, List<GuestSnapshot> snapshots) {}

  /** The snapshots, oldest first. */
  List<GuestSnapshot> list() throws IOException {
    return content().snapshots();
  }

  /** Reads each disk once. */
  Content content() throws IOException {
    long bytes = 0;
    Map<String, Map<GuestDisk, DiskImages.Held>> found = new LinkedHashMap<>();
    for (GuestDisk disk : disks) {
      DiskImages.State state = read(disk);
      bytes += state.bytes();
      for (DiskImages.Held held : state.held()) {
        found.computeIfAbsent(held.name(), name -> new LinkedHashMap<>()).put(disk, held);
      }
    }
    Optional<String> restoring = UnfinishedRestore.of(first().file());
    List<GuestSnapshot> all = new ArrayList<>();
    found.forEach((name, held) -> all.add(snapshot(name, held, restoring)));
    all.sort(Comparator.comparing(GuestSnapshot::taken));
    return new Content(bytes, all);
  }

  private GuestSnapshot snapshot(
      String name, Map<GuestDisk, DiskImages.Held> held, Optional<String> restoring) {
    GuestSnapshot.Kind kind =
        restoring.filter(name::equals).isPresent()
            ? GuestSnapshot.Kind.RESTORING
            : held.containsKey(first()) ? GuestSnapshot.Kind.WHOLE : GuestSnapshot.Kind.PARTIAL;
    if (held.values().stream().anyMatch(DiskImages.Held::hasMemory)) {
      kind = GuestSnapshot.Kind.WITH_MEMORY;
    }
    Instant taken =
        held.values().stream().map(DiskImages.Held::taken).min(Instant::compareTo).orElseThrow();
    return new GuestSnapshot(
        name,
        taken,
        held.keySet().stream().map(GuestDisk::name).toList(),
        disks.stream().filter(d -> !held.containsKey(d)).map(GuestDisk::name).toList(),
        kind);
  }

  private DiskImages.State read(GuestDisk disk) throws IOException {
    return doing("read", disk, () -> images.read(disk.file()));
  }

  /** Fails if there is a snapshot of this name, or a part of one. */
  void requireNew(SnapshotName name) throws IOException {
    for (GuestSnapshot one : list()) {
      if (one.name().equals(name.text())) {
        throw new GraftException(
            "the guest '"
                + guest
                + "' has a snapshot '"
                + name
                + "' already: "
                + one.kind().words(),
            "give the new one another name, or delete that one by graft snapshot delete");
      }
    }
    requireNoRestore("make a snapshot");
  }

  private void requireNoRestore(String what) throws IOException {
    Optional<String> restoring = UnfinishedRestore.of(first().file());
    if (restoring.isPresent()) {
      throw new GraftException(
          "cannot "
              + what
              + " of '"
              + guest
              + "': its snapshot '"
              + restoring.get()
              + "' was restored in part",
          "graft snapshot restore, of this snapshot or another one, finishes it");
    }
  }

  /** The snapshot of this name, which need not be whole. */
  private GuestSnapshot find(SnapshotName name) throws IOException {
    List<GuestSnapshot> all = list();
    GuestSnapshot found =
        all.stream()
            .filter(one -> one.name().equals(name.text()))
            .findFirst()
            .orElseThrow(
                () ->
                    new GraftException(
                        "the guest '" + guest + "' has no snapshot '" + name + "'",
                        Spelling.hint(
                            name.text(), all.stream().map(GuestSnapshot::name).toList())));
    if (found.kind() == GuestSnapshot.Kind.WITH_MEMORY) {
      throw new GraftException(
          "the snapshot '" + name + "' " + found.kind().words(),
          "virsh snapshot-revert and snapshot-delete are the commands for it");
    }
    return found;
  }

  /** Makes a snapshot. If one disk fails, those before it lose the snapshot again. */
  GuestSnapshot create(SnapshotName name) throws IOException {
    requireNew(name);
    List<GuestDisk> made = new ArrayList<>();
    for (GuestDisk disk : firstLast()) {
      try {
        change("make the snapshot '" + name + "' of", disk, () -> images.create(disk.file(), name));
      } catch (GraftException e) {
        for (GuestDisk before : made) {
          try {
            images.delete(before.file(), name);
          } catch (IOException left) {
            e.addSuppressed(left); // graft snapshot list shows it
          }
        }
        throw e;
      }
      made.add(disk);
    }
    return find(name);
  }

  private List<GuestDisk> firstLast() {
    List<GuestDisk> order = new ArrayList<>(disks);
    Collections.rotate(order, -1);
    return order;
  }

  /** The snapshot to be restored; fails if it cannot be. */
  GuestSnapshot restorable(SnapshotName name) throws IOException {
    GuestSnapshot found = find(name);
    if (found.kind() == GuestSnapshot.Kind.PARTIAL) {
      throw new GraftException(
          "the snapshot '" + name + "' of '" + guest + "' is not whole: " + found.kind().words(),
          "only whole snapshots can be restored");
    }
    return found;
  }

  /**
   * What restoring a snapshot deletes, in words: what the disks that have it got since it was
   * taken.
   */
  List<String> data(GuestSnapshot snapshot) {
    return having(snapshot.disks()).stream()
        .map(
            disk ->
                "what the disk '"
                    + disk.name()
                    + "' of "
                    + guest
                    + " got since "
                    + snapshot.taken()
                    + ", "
                    + disk.file())
        .toList();
  }

  /** What deleting a snapshot deletes, in words. */
  List<String> snapshotData(GuestSnapshot snapshot) {
    return List.of(
        "the snapshot '"
            + snapshot.name()
            + "' of "
            + guest
            + " from "
            + snapshot.taken()
            + ", in "
            + String.join(
                " and ",
                having(snapshot.disks()).stream().map(d -> String.valueOf(d.file())).toList()));
  }

  private List<GuestDisk> having(List<String> names) {
    return disks.stream().filter(disk -> names.contains(disk.name())).toList();
  }

  /** Gives the disks that have a snapshot its content. The others stay as they are. */
  GuestSnapshot restore(SnapshotName name) throws IOException {
    GuestSnapshot found = restorable(name);
    Path beside = first().file();
    UnfinishedRestore.begin(beside, name.text());
    for (GuestDisk disk : having(found.disks())) {
      change(
          "restore the snapshot '" + name + "' of", disk, () -> images.restore(disk.file(), name));
    }
    UnfinishedRestore.end(beside);
    return find(name);
  }

  /** The snapshot to be deleted; fails if it cannot be. */
  GuestSnapshot deletable(SnapshotName name) throws IOException {
    requireNoRestore("delete a snapshot");
    return find(name);
  }

  /** Deletes a snapshot, or what an interrupted command left of it. */
  void delete(SnapshotName name) throws IOException {
    for (GuestDisk disk : having(deletable(name).disks())) {
      change("delete the snapshot '" + name + "' of", disk, () -> images.delete(disk.file(), name));
    }
  }

  private interface Reading<T> {
    T read() throws IOException;
  }

  private interface Changing {
    void change() throws IOException;
  }

  private void change(String what, GuestDisk disk, Changing work) throws IOException {
    doing(
        what,
        disk,
        () -> {
          work.change();
          return disk;
        });
  }

  private <T> T doing(String what, GuestDisk disk, Reading<T> work) {
    try {
      return work.read();
    } catch (IOException e) {
      throw new GraftException(
          "cannot "
              + what
              + " the disk '"
              + disk.name()
              + "' of '"
              + guest
              + "': "
              + e.getMessage(),
          "is qemu-utils installed, is there room, and does nothing else use " + disk.file() + "?",
          e);
    }
  }
}
