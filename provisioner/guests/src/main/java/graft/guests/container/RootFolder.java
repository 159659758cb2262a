package graft.guests.container;

import graft.hypervisors.libvirt.domain.Boot;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Map;
import java.util.Optional;

/**
 * Fills the root folder of a container that has never run, as the host's root.
 *
 * <p>Each file belongs to the user of the host that its owner in the container is. No link is
 * followed: an archive may hold one that leads out of the folder and then a file behind it. Device
 * nodes, pipes and sockets are left out, since libvirt gives each container the devices that it may
 * have.
 */
public final class RootFolder {
  private static final int PERMISSIONS = 07777;

  private final Path root;
  private final Boot.IdRange ids;

  /**
   * A root folder.
   *
   * @param root an empty folder that nobody else writes
   */
  public RootFolder(Path root, Boot.IdRange ids) {
    this.root = root;
    this.ids = ids;
  }

  /**
   * Fills it from a folder, a tar archive or an initramfs.
   *
   * @throws IOException if the source holds a path that leads out of the folder, or users that the
   *     container does not have
   */
  public void fill(Path source) throws IOException {
    own(root, 0, 0, 0755);
    if (Files.isDirectory(source)) {
      copy(source.toRealPath());
    } else {
      unpack(source);
    }
  }

  private void unpack(Path source) throws IOException {
    try (RootArchive archive = RootArchive.open(source)) {
      for (Optional<RootArchive.Member> next = archive.next();
          next.isPresent();
          next = archive.next()) {
        unpack(archive, next.get());
      }
    } catch (InvalidPathException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private void unpack(RootArchive archive, RootArchive.Member member) throws IOException {
    String name = member.path();
    if (name.isEmpty()) {
      return;
    }
    Path file = place(name);
    if (member.is(RootTree.Node.FOLDER)) {
      if (!Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
        Files.deleteIfExists(file);
        Files.createDirectory(file);
      }
    } else if (member.is(RootTree.Node.LINK)) {
      Files.deleteIfExists(file);
      Files.createSymbolicLink(file, Path.of(member.target()));
    } else if (member.is(RootTree.Node.FILE)) {
      write(archive, member, file);
    } else {
      return;
    }
    own(file, member.user(), member.group(), member.mode());
  }

  private void write(RootArchive archive, RootArchive.Member member, Path file) throws IOException {
    if (member.same().isPresent()) {
      Path other = place(RootArchive.plain(member.same().get()));
      if (other.equals(file) || !Files.isRegularFile(other, LinkOption.NOFOLLOW_LINKS)) {
        throw new IOException(
            "the archive says that '" + member.name() + "' is another name of no file");
      }
      Files.deleteIfExists(file);
      Files.createLink(file, other);
    } else {
      Files.deleteIfExists(file);
      Files.createFile(file);
    }
    if (member.size() > 0) {
      try (var out =
          Files.newOutputStream(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
        archive.content().transferTo(out);
      }
    }
  }

  /**
   * The place of an archive's file in the folder.
   *
   * @throws IOException if the path leads out of the folder, or through a file that is no folder
   */
  private Path place(String name) throws IOException {
    Path place = root;
    String[] parts = name.split("/", -1);
    for (int i = 0; i < parts.length; i++) {
      if (parts[i].isEmpty() || parts[i].equals(".") || parts[i].equals("..")) {
        throw new IOException("the path '" + name + "' of the archive is not a plain one");
      }
      place = place.resolve(parts[i]);
      boolean last = i == parts.length - 1;
      if (!last && !Files.exists(place, LinkOption.NOFOLLOW_LINKS)) {
        Files.createDirectory(place);
        own(place, 0, 0, 0755);
      } else if (!last && !Files.isDirectory(place, LinkOption.NOFOLLOW_LINKS)) {
        throw new IOException(
            "the path '" + name + "' of the archive leads through '" + parts[i] + "', no folder");
      }
    }
    return place;
  }

  private void copy(Path source) throws IOException {
    Files.walkFileTree(
        source,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes)
              throws IOException {
            Path target = root.resolve(source.relativize(folder));
            if (!target.equals(root.resolve(""))) {
              Files.createDirectory(target);
            }
            ownLike(target, folder);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            if (attributes.isRegularFile() || attributes.isSymbolicLink()) {
              Path target = root.resolve(source.relativize(file));
              Files.copy(file, target, LinkOption.NOFOLLOW_LINKS);
              ownLike(target, file);
            }
            return FileVisitResult.CONTINUE;
          }
        });
  }

  private void ownLike(Path target, Path source) throws IOException {
    Map<String, Object> its =
        Files.readAttributes(source, "unix:uid,gid,mode", LinkOption.NOFOLLOW_LINKS);
    own(target, (int) its.get("uid"), (int) its.get("gid"), (int) its.get("mode"));
  }

  /** Gives a file to a user of the container. Linux drops setuid bits with each change of owner. */
  private void own(Path file, long user, long group, int mode) throws IOException {
    Files.setAttribute(file, "unix:uid", mapped(user, file), LinkOption.NOFOLLOW_LINKS);
    Files.setAttribute(file, "unix:gid", mapped(group, file), LinkOption.NOFOLLOW_LINKS);
    if (!Files.isSymbolicLink(file)) {
      Files.setAttribute(file, "unix:mode", mode & PERMISSIONS);
    }
  }

  private int mapped(long id, Path file) throws IOException {
    if (id < 0 || id >= ids.count()) {
      throw new IOException(
          "/"
              + root.relativize(file)
              + " belongs to user or group "
              + id
              + ", and the container has those from 0 to "
              + (ids.count() - 1));
    }
    return (int) (ids.first() + id);
  }
}
