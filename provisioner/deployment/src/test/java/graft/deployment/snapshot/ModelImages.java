package graft.deployment.snapshot;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Disk images in memory, whose content is a text, and which can break off after some changes. */
final class ModelImages implements DiskImages {
  /** Ends a command where a process may be killed. */
  static final class Killed extends Error {
    private static final long serialVersionUID = 1;
  }

  private static final class Image {
    String content = "";
    final Map<String, String> snapshots = new LinkedHashMap<>();
    final Map<String, Instant> taken = new LinkedHashMap<>();
    boolean hasMemory;
  }

  private final Map<Path, Image> images = new LinkedHashMap<>();
  private int clock;
  private int changes = Integer.MAX_VALUE;
  private Path failing;

  private Image image(Path path) {
    return images.computeIfAbsent(path, p -> new Image());
  }

  /** Lets so many changes happen, and kills the process before the next one. */
  void killAfter(int number) {
    changes = number;
  }

  void neverKill() {
    changes = Integer.MAX_VALUE;
  }

  /** Lets changes of an image fail; null for none. */
  void fail(Path image) {
    failing = image;
  }

  void write(Path path, String content) {
    image(path).content = content;
  }

  String content(Path path) {
    return image(path).content;
  }

  /** Gives an image a snapshot as virsh makes one of a running guest. */
  void addWithMemory(Path path, String name) {
    image(path).snapshots.put(name, image(path).content);
    image(path).taken.put(name, Instant.ofEpochSecond(clock++));
    image(path).hasMemory = true;
  }

  private void change(Path path) throws IOException {
    if (path.equals(failing)) {
      throw new IOException("No space left on device");
    }
    if (changes-- == 0) {
      throw new Killed();
    }
  }

  @Override
  public State read(Path path) {
    Image image = image(path);
    List<Held> held = new ArrayList<>();
    image.snapshots.forEach(
        (name, content) -> held.add(new Held(name, image.taken.get(name), image.hasMemory)));
    return new State(1000, held);
  }

  @Override
  public void create(Path path, SnapshotName name) throws IOException {
    change(path);
    image(path).snapshots.put(name.text(), image(path).content);
    image(path).taken.put(name.text(), Instant.ofEpochSecond(clock++));
  }

  @Override
  public void restore(Path path, SnapshotName name) throws IOException {
    change(path);
    image(path).content = image(path).snapshots.get(name.text());
  }

  @Override
  public void delete(Path path, SnapshotName name) throws IOException {
    change(path);
    image(path).snapshots.remove(name.text());
  }
}
