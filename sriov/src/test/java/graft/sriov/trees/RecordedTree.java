package graft.sriov.trees;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Creates a folder from a {@code .tree} file, which has one file or link on each line. */
final class RecordedTree {
  private RecordedTree() {}

  static void make(Path root, String name) throws IOException {
    try (InputStream in = RecordedTree.class.getResourceAsStream("/graft/sriov/trees/" + name);
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (!line.startsWith("#") && !line.isBlank()) {
          entry(root, line);
        }
      }
    }
  }

  private static void entry(Path root, String line) throws IOException {
    int link = line.indexOf(" -> ");
    int file = line.indexOf(" =");
    boolean isLink = link >= 0 && (file < 0 || link < file);
    Path path = root.resolve(line.substring(1, isLink ? link : file));
    Files.createDirectories(path.getParent());
    if (isLink) {
      Files.createSymbolicLink(path, Path.of(line.substring(link + 4)));
    } else {
      String content = line.substring(file + 2).strip().replace("\\n", "\n");
      Files.writeString(path, content + "\n");
    }
  }
}
