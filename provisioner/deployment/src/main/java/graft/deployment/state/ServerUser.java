package graft.deployment.state;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.util.Optional;

/**
 * The system user that servers of root run as, and the group of the same name.
 *
 * <p>Files are given to it only in folders that root alone can write, so that no name can lead
 * elsewhere.
 */
public record ServerUser(UserPrincipal user, GroupPrincipal group) {
  /** Its name. */
  public static final String NAME = "graft";

  /** Finds the user; empty if the user or the group does not exist. */
  public static Optional<ServerUser> find() {
    UserPrincipalLookupService names = FileSystems.getDefault().getUserPrincipalLookupService();
    try {
      return Optional.of(
          new ServerUser(
              names.lookupPrincipalByName(NAME), names.lookupPrincipalByGroupName(NAME)));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** Makes it the owner of a file, which nobody else can open. */
  public void own(Path file) throws IOException {
    PosixFileAttributeView view = view(file);
    view.setPermissions(PosixFilePermissions.fromString("rw-------"));
    view.setGroup(group);
    view.setOwner(user);
  }

  /** Makes it the owner of a folder, which nobody else can enter. */
  public void ownFolder(Path folder) throws IOException {
    PosixFileAttributeView view = view(folder);
    view.setPermissions(PosixFilePermissions.fromString("rwx------"));
    view.setGroup(group);
    view.setOwner(user);
  }

  /**
   * Makes a folder that it owns and nobody else can enter, or gives it the one that is there.
   * Servers that are started at the same time may make the folder that they share.
   */
  public void makeFolder(Path folder) throws IOException {
    try {
      Files.createDirectory(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
        throw e;
      }
    }
    ownFolder(folder);
  }

  /** Lets it read a folder of root's. */
  public void letEnter(Path folder) throws IOException {
    PosixFileAttributeView view = view(folder);
    view.setGroup(group);
    view.setPermissions(PosixFilePermissions.fromString("rwxr-x---"));
  }

  /** Lets it read and write a file that stays its owner's. */
  public void share(Path file) throws IOException {
    PosixFileAttributeView view = view(file);
    view.setGroup(group);
    view.setPermissions(PosixFilePermissions.fromString("rw-rw----"));
  }

  /** Returns whether it owns a file. */
  public boolean owns(Path file) throws IOException {
    return Files.exists(file, LinkOption.NOFOLLOW_LINKS)
        && Files.getOwner(file, LinkOption.NOFOLLOW_LINKS).equals(user);
  }

  private static PosixFileAttributeView view(Path file) {
    return Files.getFileAttributeView(
        file, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
  }
}
