package graft.common.grants;

import graft.common.disk.PrivateFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The domains of Xen that a server's starter may share pages with, one name a line: {@code
 * jail/starter/grants.c} reads the file. It lies beside the tokens file, which names the domains
 * too, but which the server's user can write.
 *
 * @param file the file; it is gone when the list is empty
 */
public record DomainList(Path file) {
  private static final Object LOCK = new Object();

  /** Returns the list of the server with that tokens file. */
  public static DomainList of(Path tokens) {
    return new DomainList(tokens.resolveSibling(tokens.getFileName() + ".domains"));
  }

  /** Adds a domain. */
  public void add(String domain) throws IOException {
    change(domain, true);
  }

  /** Removes a domain, if it is in the list. */
  public void remove(String domain) throws IOException {
    change(domain, false);
  }

  private void change(String domain, boolean isListed) throws IOException {
    synchronized (LOCK) {
      List<String> before =
          Files.exists(file) ? Files.readAllLines(file, StandardCharsets.UTF_8) : List.of();
      List<String> after = new ArrayList<>(before);
      after.removeIf(domain::equals);
      if (isListed) {
        after.add(domain);
      }
      if (after.isEmpty()) {
        PrivateFiles.delete(file);
      } else if (!after.equals(before)) {
        String text = String.join("\n", after) + "\n";
        PrivateFiles.write(file, text.getBytes(StandardCharsets.UTF_8));
      }
    }
  }
}
