package graft.guests.container;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/** A root file system in a folder. */
record FolderTree(Path root) implements RootTree {
  @Override
  public Optional<Node> at(String path) throws IOException {
    Path file = root.resolve(path);
    int mode;
    try {
      mode = (int) Files.getAttribute(file, "unix:mode", LinkOption.NOFOLLOW_LINKS);
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
    Node bare = Node.of(mode);
    if (bare.is(Node.LINK)) {
      return Optional.of(Node.link(mode, Files.readSymbolicLink(file).toString()));
    } else if (!bare.is(Node.FILE)) {
      return Optional.of(bare);
    }
    try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
      return Optional.of(Node.file(mode, in.readNBytes(Node.HEAD)));
    }
  }
}
