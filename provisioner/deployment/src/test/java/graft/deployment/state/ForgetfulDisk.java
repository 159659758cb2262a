package graft.deployment.state;

import graft.common.disk.PrivateFiles;
import graft.common.disk.StateDisk;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A disk whose power is cut at a chosen moment, and which then has what was synced and any part of
 * the rest that a file system may keep. Of a file that is what was written before the last sync and
 * a beginning of what was written since; of a folder the names as they were when it was synced, and
 * any of the changes since, of each name in their order. Each file and folder is apart from all
 * others: a name may be there before its content, and content without a name.
 */
public final class ForgetfulDisk extends StateDisk implements AutoCloseable {
  /** The end of all processes. */
  public static final class PowerCut extends Error {
    private static final long serialVersionUID = 1;
  }

  private static class Node {}

  private static final class FileNode extends Node {
    private final ByteArrayOutputStream content = new ByteArrayOutputStream();
    private int synced;
  }

  private static final class FolderNode extends Node {
    private final Map<String, Node> synced = new LinkedHashMap<>();
    private final Map<String, Node> present = new LinkedHashMap<>();

    /** Changes since the last sync, each as the names that it sets; null for one that goes. */
    private final List<Map<String, Node>> changes = new ArrayList<>();

    void change(Map<String, Node> names) {
      changes.add(names);
      apply(present, names);
    }

    static void apply(Map<String, Node> to, Map<String, Node> names) {
      names.forEach(
          (name, node) -> {
            if (node == null) {
              to.remove(name);
            } else {
              to.put(name, node);
            }
          });
    }
  }

  private final Path root;
  private final FolderNode tree;
  private final StateDisk before;
  private final int moment;
  private int moments;

  /**
   * Takes the place of the disk until it is closed.
   *
   * @param root the folder that it holds; what is there now is synced
   * @param moment the number of the change or sync at which power is cut, from 1
   */
  public ForgetfulDisk(Path root, int moment) {
    this.root = root;
    this.moment = moment;
    this.tree = (FolderNode) read(root);
    this.before = StateDisk.replace(this);
  }

  /** How many changes and syncs there were. */
  public synchronized int moments() {
    return moments;
  }

  private static Node read(Path path) {
    try {
      if (!Files.isDirectory(path)) {
        FileNode file = new FileNode();
        file.content.writeBytes(Files.readAllBytes(path));
        file.synced = file.content.size();
        return file;
      }
      FolderNode folder = new FolderNode();
      try (Stream<Path> children = Files.list(path)) {
        children.sorted().forEach(c -> folder.synced.put(c.getFileName().toString(), read(c)));
      }
      folder.present.putAll(folder.synced);
      return folder;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Every change goes through here: after the cut there are no more. */
  private void moment() {
    moments++;
    if (moments >= moment) {
      throw new PowerCut();
    }
  }

  private FolderNode folder(Path path) {
    FolderNode folder = tree;
    for (Path part : root.relativize(path)) {
      folder =
          part.toString().isEmpty() ? folder : (FolderNode) folder.present.get(part.toString());
    }
    return folder;
  }

  private static String name(Path path) {
    return path.getFileName().toString();
  }

  private static Map<String, Node> named(Path path, Node node) {
    Map<String, Node> names = new HashMap<>();
    names.put(name(path), node);
    return names;
  }

  @Override
  public synchronized Output create(Path file) throws IOException {
    moment();
    Output real = super.create(file);
    FileNode node = new FileNode();
    folder(file.getParent()).change(named(file, node));
    return new Recorded(real, node);
  }

  @Override
  public synchronized Output append(Path file, long length) throws IOException {
    moment();
    Output real = super.append(file, length);
    FolderNode folder = folder(file.getParent());
    FileNode node = (FileNode) folder.present.get(name(file));
    if (node == null) {
      node = new FileNode();
      folder.change(named(file, node));
    } else {
      truncate(node, length);
    }
    return new Recorded(real, node);
  }

  private static void truncate(FileNode node, long length) {
    byte[] rest = Arrays.copyOf(node.content.toByteArray(), (int) length);
    node.content.reset();
    node.content.writeBytes(rest);
    node.synced = Math.min(node.synced, rest.length);
  }

  @Override
  public synchronized void link(Path name, Path file) throws IOException {
    moment();
    super.link(name, file);
    folder(name.getParent()).change(named(name, folder(file.getParent()).present.get(name(file))));
  }

  @Override
  public synchronized void move(Path from, Path to) throws IOException {
    moment();
    super.move(from, to);
    FolderNode folder = folder(from.getParent());
    Map<String, Node> both = named(to, folder.present.get(name(from)));
    both.put(name(from), null);
    folder.change(both);
  }

  @Override
  public synchronized boolean delete(Path path) throws IOException {
    moment();
    boolean there = super.delete(path);
    if (there) {
      folder(path.getParent()).change(named(path, null));
    }
    return there;
  }

  @Override
  public synchronized void makeFolder(Path folder) throws IOException {
    moment();
    super.makeFolder(folder);
    folder(folder.getParent()).change(named(folder, new FolderNode()));
  }

  @Override
  public synchronized void syncFolder(Path path) {
    moment();
    FolderNode folder = folder(path);
    folder.synced.clear();
    folder.synced.putAll(folder.present);
    folder.changes.clear();
  }

  private final class Recorded implements Output {
    private final Output real;
    private final FileNode node;

    Recorded(Output real, FileNode node) {
      this.real = real;
      this.node = node;
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
      synchronized (ForgetfulDisk.this) {
        moment();
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        real.write(bytes);
        node.content.writeBytes(copy);
      }
    }

    @Override
    public void sync() {
      synchronized (ForgetfulDisk.this) {
        moment();
        node.synced = node.content.size();
      }
    }

    @Override
    public void truncate(long length) throws IOException {
      synchronized (ForgetfulDisk.this) {
        moment();
        real.truncate(length);
        ForgetfulDisk.truncate(node, length);
      }
    }

    @Override
    public void close() throws IOException {
      real.close();
    }
  }

  /** Makes the folder what is found on the disk when power is back. */
  public synchronized void comeBack(Random random) throws IOException {
    close();
    PrivateFiles.deleteFolder(root);
    write(root, tree, random);
  }

  private static void write(Path path, Node node, Random random) throws IOException {
    if (node instanceof FileNode file) {
      int kept = file.synced + random.nextInt(file.content.size() - file.synced + 1);
      Files.write(path, Arrays.copyOf(file.content.toByteArray(), kept));
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
      return;
    }
    FolderNode folder = (FolderNode) node;
    Files.createDirectories(path);
    Map<String, Node> names = new LinkedHashMap<>(folder.synced);
    Set<String> lost = new HashSet<>();
    for (Map<String, Node> change : folder.changes) {
      // What a name was last on the disk depends on all of its changes before.
      if (random.nextBoolean() || change.keySet().stream().anyMatch(lost::contains)) {
        lost.addAll(change.keySet());
      } else {
        FolderNode.apply(names, change);
      }
    }
    Map<Node, Path> written = new HashMap<>();
    for (Map.Entry<String, Node> entry : names.entrySet()) {
      Path child = path.resolve(entry.getKey());
      Path other = written.putIfAbsent(entry.getValue(), child);
      if (other == null) {
        write(child, entry.getValue(), random);
      } else {
        Files.createLink(child, other);
      }
    }
  }

  @Override
  public void close() {
    if (StateDisk.get() == this) {
      StateDisk.replace(before);
    }
  }
}
