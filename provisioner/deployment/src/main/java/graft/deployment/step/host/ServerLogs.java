package graft.deployment.step.host;

import graft.common.audit.RotatedFile;
import graft.common.disk.PrivateFiles;
import graft.deployment.state.ServerFolder;
import graft.deployment.state.ServerUser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;

/**
 * The folder in which a server that runs as its own user writes its log, its audit trail and its
 * accounts. The server may have put anything into it, so that root follows no link there.
 */
record ServerLogs(ServerFolder server) {
  /** Makes the folder, or gives the server's user the one that an earlier server has left. */
  void make(ServerUser user) throws IOException {
    Path folder = server.logs();
    if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      Files.createDirectory(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
    if (user.owns(folder)) {
      return;
    }
    // The folder is root's, so that nobody can put other files in place of these meanwhile.
    for (Path file : files()) {
      boolean isPlain = Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS);
      if (isPlain && (int) Files.getAttribute(file, "unix:nlink", LinkOption.NOFOLLOW_LINKS) == 1) {
        user.own(file);
      }
    }
    user.ownFolder(folder);
  }

  /**
   * Removes the log. An audit trail and accounts stay, in a folder that is root's: the user's
   * number may be another user's later.
   */
  void remove() throws IOException {
    Path folder = server.logs();
    if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    for (Path part : RotatedFile.parts(server.log())) {
      PrivateFiles.delete(part);
    }
    if (files().isEmpty()) {
      Files.delete(folder);
    } else {
      Files.setOwner(
          folder,
          folder.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("root"));
    }
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> all = Files.list(server.logs())) {
      return all.toList();
    }
  }
}
