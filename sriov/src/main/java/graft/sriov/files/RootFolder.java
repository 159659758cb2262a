package graft.sriov.files;

import graft.sriov.HostException;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A host's files below a folder: {@code /} for the host that this process runs on, another folder
 * for a recorded or mounted host.
 */
public final class RootFolder implements Sysfs {
  private final Path root;
  private final String prefix;
  private final AttributeWriter writer = new AttributeWriter();

  public RootFolder(Path root) {
    this.root = root;
    String text = root.toString();
    this.prefix = text.equals("/") ? "" : text;
  }

  /** The host that this process runs on. */
  public static RootFolder thisHost() {
    return new RootFolder(Path.of("/"));
  }

  /** The folder that stands for the host's {@code /}. */
  public Path root() {
    return root;
  }

  @Override
  public Optional<String> read(String path) {
    // The stream ignores the file's size: attributes report 4096 bytes whatever they contain.
    try (FileInputStream in = new FileInputStream(prefix + path)) {
      byte[] bytes = in.readAllBytes();
      return Optional.of(new String(bytes, StandardCharsets.UTF_8).strip());
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  @Override
  public List<String> list(String path) {
    String[] names = new File(prefix + path).list();
    if (names == null) {
      return List.of();
    }
    Arrays.sort(names);
    return Arrays.asList(names);
  }

  @Override
  public Optional<String> readLink(String path) {
    try {
      return Optional.of(Files.readSymbolicLink(Path.of(prefix + path)).toString());
    } catch (IOException | UnsupportedOperationException e) {
      return Optional.empty();
    }
  }

  @Override
  public boolean exists(String path) {
    return Files.exists(Path.of(prefix + path), LinkOption.NOFOLLOW_LINKS);
  }

  @Override
  public void write(String path, String value, Duration limit) {
    writer.write(path, prefix + path, value, limit);
  }

  @Override
  public void store(String path, String content) {
    Path file = Path.of(prefix + path);
    try {
      Path folder = file.toAbsolutePath().getParent();
      Files.createDirectories(folder);
      Path temporary = Files.createTempFile(folder, "." + file.getFileName(), ".tmp");
      try {
        Files.writeString(temporary, content);
        sync(temporary);
        Files.move(
            temporary, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        sync(folder);
      } finally {
        Files.deleteIfExists(temporary);
      }
    } catch (IOException e) {
      throw new HostException("writing the file failed: " + e, path, "Look at the disk", e);
    }
  }

  @Override
  public void storeLink(String path, String target) {
    Path link = Path.of(prefix + path);
    try {
      Files.createDirectories(link.toAbsolutePath().getParent());
      Files.deleteIfExists(link);
      Files.createSymbolicLink(link, Path.of(target));
      sync(link.toAbsolutePath().getParent());
    } catch (IOException e) {
      throw new HostException("making the link failed: " + e, path, "Look at the disk", e);
    }
  }

  @Override
  public boolean isThisHost() {
    return prefix.isEmpty();
  }

  @Override
  public void remove(String path) {
    try {
      Path file = Path.of(prefix + path);
      if (Files.deleteIfExists(file)) {
        sync(file.toAbsolutePath().getParent());
      }
    } catch (IOException e) {
      throw new HostException("removing the file failed: " + e, path, "Remove it by hand", e);
    }
  }

  /** Syncs a file's content, or a folder's names, before a journal records them. */
  private static void sync(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
