package graft.guests.container;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** A root file system in an archive. */
record ArchiveTree(Map<String, Node> nodes) implements RootTree {
  /** Reads the list of an archive's files. */
  static ArchiveTree read(Path file) throws IOException {
    Map<String, Node> nodes = new HashMap<>();
    nodes.put("", Node.of(Node.FOLDER | 0755));
    try (RootArchive archive = RootArchive.open(file)) {
      Optional<RootArchive.Member> next = archive.next();
      while (next.isPresent()) {
        RootArchive.Member member = next.get();
        parents(nodes, member.path());
        Node before = member.same().map(RootArchive::plain).map(nodes::get).orElse(null);
        nodes.put(
            member.path(),
            before != null && member.size() == 0 ? before : node(archive, next.get()));
        next = archive.next();
      }
    }
    return new ArchiveTree(nodes);
  }

  /** An archive need not list the folders that its files are in. */
  private static void parents(Map<String, Node> nodes, String path) {
    for (int at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1)) {
      nodes.putIfAbsent(path.substring(0, at), Node.of(Node.FOLDER | 0755));
    }
  }

  private static Node node(RootArchive archive, RootArchive.Member member) throws IOException {
    if (member.is(Node.LINK)) {
      return Node.link(member.mode(), member.target());
    }
    return member.is(Node.FILE)
        ? Node.file(member.mode(), archive.content().readNBytes(Node.HEAD))
        : Node.of(member.mode());
  }

  @Override
  public Optional<Node> at(String path) {
    return Optional.ofNullable(nodes.get(path));
  }
}
