package graft.deployment.observe;

import graft.common.GraftException;
import graft.common.grants.Grant;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Examines files. */
final class FileObserver {
  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rw-------");

  /** A token with some blank space, in bytes. */
  private static final int LONGEST_TOKEN_FILE = 256;

  private final Map<Path, FileFacts> files = new LinkedHashMap<>();
  private final Set<Path> folders = new LinkedHashSet<>();

  /** Examines one file. */
  void look(Path file) {
    try {
      BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
      if (attributes.isRegularFile()) {
        boolean readable = Files.isReadable(file);
        Optional<Long> qcow2 = readable ? QcowHeader.diskSize(file) : Optional.empty();
        files.put(
            file,
            new FileFacts(
                attributes.size(),
                attributes.lastModifiedTime().toMillis(),
                readable,
                qcow2.isPresent(),
                isReachable(file),
                qcow2.orElse(attributes.size()),
                ""));
      }
    } catch (IOException e) {
      // a file in a folder without access counts as missing
    }
  }

  /** Examines a file that holds a token, once it has been looked at. */
  void lookForToken(Path file) {
    files.computeIfPresent(file, (path, facts) -> facts.withTokenProblem(tokenProblem(path)));
  }

  /** Why a client cannot use the token; empty if it can. It never shows the token. */
  private static String tokenProblem(Path file) {
    try {
      Set<PosixFilePermission> mode = Files.getPosixFilePermissions(file);
      if (!OWNER_ONLY.containsAll(mode)) {
        return "other users may read it (" + PosixFilePermissions.toString(mode) + ")";
      }
      if (Files.size(file) > LONGEST_TOKEN_FILE || !Grant.isToken(Files.readString(file).strip())) {
        return "it does not hold a token, which is 64 hexadecimal digits and nothing else";
      }
      return "";
    } catch (CharacterCodingException e) {
      return "it is not text";
    } catch (IOException e) {
      return ""; // whether it can be read is for others to say
    }
  }

  /**
   * Examines all folders and files under a folder, if it exists. A folder of another owner is seen
   * and not entered: what lies in the root folder of a container is the container's own.
   */
  void lookUnder(Path folder) {
    if (!Files.isDirectory(folder)) {
      return;
    }
    try {
      UserPrincipal owner = Files.getOwner(folder);
      Files.walkFileTree(
          folder,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path inner, BasicFileAttributes attributes)
                throws IOException {
              folders.add(inner);
              return Files.getOwner(inner, LinkOption.NOFOLLOW_LINKS).equals(owner)
                  ? FileVisitResult.CONTINUE
                  : FileVisitResult.SKIP_SUBTREE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
              look(file);
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      throw new GraftException("cannot look at " + folder + ": " + e.getMessage(), "", e);
    }
  }

  /** Examines the files of a folder whose names have the prefix. */
  void lookIn(Path folder, String prefix) {
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, prefix + "*")) {
      found.forEach(this::look);
    } catch (IOException e) {
      // the folder does not exist
    }
  }

  private static boolean isReachable(Path file) throws IOException {
    for (Path parent = file.getParent(); parent != null; parent = parent.getParent()) {
      if (!Files.getPosixFilePermissions(parent).contains(PosixFilePermission.OTHERS_EXECUTE)) {
        return false;
      }
    }
    return true;
  }

  Map<Path, FileFacts> files() {
    return files;
  }

  Set<Path> folders() {
    return folders;
  }
}
