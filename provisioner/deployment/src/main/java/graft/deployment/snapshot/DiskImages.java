package graft.deployment.snapshot;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;

/** The snapshots inside disk images. Each change is atomic for its one image. */
interface DiskImages {
  /**
   * A snapshot inside an image.
   *
   * @param name which images need not have once only
   * @param hasMemory whether it holds the memory of a running guest too, which Graft's never do
   */
  record Held(String name, Instant taken, boolean hasMemory) {}

  /**
   * An image.
   *
   * @param bytes that its file takes on the host, with those of its snapshots
   * @param held its snapshots, oldest first
   */
  record State(long bytes, List<Held> held) {}

  /** Reads an image, which a running guest may use. */
  State read(Path image) throws IOException;

  /** Makes a snapshot of an image's present content. */
  void create(Path image, SnapshotName name) throws IOException;

  /** Makes the content of a snapshot the present one; the snapshot stays. */
  void restore(Path image, SnapshotName name) throws IOException;

  void delete(Path image, SnapshotName name) throws IOException;
}
