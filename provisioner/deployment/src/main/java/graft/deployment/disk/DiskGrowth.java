package graft.deployment.disk;

import graft.common.bind.Position;
import graft.common.bind.Problems;
import graft.common.values.MemorySize;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.FileFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.Step;
import graft.deployment.step.guest.CreateDisk;
import graft.deployment.step.guest.GrowDisk;
import java.util.List;
import java.util.Optional;

/**
 * A disk whose size in the descriptor changes: it stays and grows, and is not made anew. The step
 * that made it keeps the size of that time.
 */
public final class DiskGrowth {
  private final CreateDisk wanted;
  private final Optional<CreateDisk> made;
  private final JournalState journal;
  private final Snapshot snapshot;

  /**
   * The growth of one disk.
   *
   * @param wanted the step that would make it now
   */
  public DiskGrowth(JournalState journal, Snapshot snapshot, CreateDisk wanted) {
    this.journal = journal;
    this.snapshot = snapshot;
    this.wanted = wanted;
    // One that was made from something else is another disk.
    this.made =
        journal
            .step(wanted.id(), CreateDisk.class)
            .filter(step -> step.withSize(wanted.size()).equals(wanted));
  }

  /**
   * The steps that make it, and make it larger.
   *
   * @param uuid the guest's
   */
  public List<Step> steps(String uri, String uuid) {
    if (made.isEmpty() || made.get().size().equals(wanted.size())) {
      return List.of(wanted);
    }
    if (wanted.size().isEmpty()) {
      return List.of(made.get());
    }
    MemorySize size = wanted.size().get();
    return List.of(
        made.get(), new GrowDisk(uri, wanted.guest(), uuid, wanted.disk(), size, wanted.target()));
  }

  /**
   * Refuses a disk that would shrink, if an earlier apply made it as large as it is. One that is
   * larger because an apply was undone may stay so.
   */
  public Problems problems(Position at) {
    Problems problems = new Problems();
    if (made.isEmpty() || wanted.size().isEmpty()) {
      return problems;
    }
    MemorySize size = wanted.size().get();
    long is = snapshot.file(wanted.target()).map(FileFacts::diskSize).orElse(0L);
    if (is > size.bytes() && applied() > size.bytes()) {
      problems.add(
          at,
          "the disk '"
              + wanted.disk()
              + "' of '"
              + wanted.guest()
              + "' has "
              + new MemorySize(is)
              + ", and cannot shrink to "
              + size
              + ": what the guest wrote may lie beyond",
          "write its size, or move its data to a new disk with another name");
    }
    return problems;
  }

  /** The largest size in bytes that an apply gave the disk. */
  private long applied() {
    String grow = GrowDisk.id(wanted.guest(), wanted.disk());
    long grown = journal.step(grow, GrowDisk.class).map(step -> step.size().bytes()).orElse(0L);
    return Math.max(grown, made.flatMap(CreateDisk::size).map(MemorySize::bytes).orElse(0L));
  }
}
