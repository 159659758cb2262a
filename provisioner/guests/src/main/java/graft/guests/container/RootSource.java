package graft.guests.container;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What a container's root folder is made from: a folder, a tar archive or an initramfs.
 *
 * @param init the path of its first program; empty if there is a problem
 * @param problem why no container can be made from it, without its path; empty if one can
 * @param hint what to do about the problem; may be empty
 */
public record RootSource(String init, String problem, String hint) {
  /** Where Linux looks for the first program of a root folder, then of an initramfs. */
  private static final List<String> INITS =
      List.of("/sbin/init", "/etc/init", "/bin/init", "/init");

  private static final int EXECUTABLE = 0111;

  private static final String NO_DISK =
      "a container has no disk image: graft image build --container debian:12 makes a root file"
          + " system, and virt-tar-out -a IMAGE / ROOT.tar takes that of an image";

  /**
   * Looks at what a root folder would be made from.
   *
   * @return empty if there is neither a file nor a folder
   */
  public static Optional<RootSource> look(Path source) {
    if (!Files.exists(source)) {
      return Optional.empty();
    }
    try {
      if (Files.isDirectory(source)) {
        return Optional.of(look(new FolderTree(source)));
      } else if (!Files.isRegularFile(source) || !RootArchive.isArchive(source)) {
        return Optional.of(
            bad(
                "is neither a folder, nor a tar archive, nor an initramfs (a cpio archive), as it is"
                    + " or by gzip",
                NO_DISK));
      }
      return Optional.of(look(ArchiveTree.read(source)));
    } catch (IOException | RuntimeException e) {
      return Optional.of(bad("cannot be read: " + e.getMessage(), ""));
    }
  }

  private static RootSource look(RootTree tree) throws IOException {
    for (String path : INITS) {
      Optional<RootTree.Node> found = tree.resolve(path);
      if (found.isPresent()
          && found.get().is(RootTree.Node.FILE)
          && (found.get().mode() & EXECUTABLE) != 0) {
        return found.get().foreign()
            ? bad(
                "is of another architecture: its " + path + " does not run on x86-64",
                "a container runs on the host's CPU and kernel: take a root of this architecture")
            : new RootSource(path, "", "");
      }
    }
    return bad(
        "has no init: none of " + String.join(", ", INITS) + " is a program in it",
        "a container begins with its init: install one, such as busybox or systemd");
  }

  private static RootSource bad(String problem, String hint) {
    return new RootSource("", problem, hint);
  }
}
