package graft.cli.host;

import graft.common.GraftException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a machine's {@code client.conf} says of its servers. */
final class ClientConfiguration {
  private static final Pattern SERVERS = Pattern.compile("\\s*server\\s*=(.*)");
  private static final Pattern SOCKET = Pattern.compile("(?:unix|shm)://(/[^,;\\s]+)");

  private ClientConfiguration() {}

  /** The Unix sockets among the addresses of its servers. */
  static Set<Path> sockets(Path file) {
    Set<Path> sockets = new LinkedHashSet<>();
    List<String> lines;
    try {
      lines = Files.readAllLines(file);
    } catch (IOException e) {
      throw new GraftException("cannot read " + file + ": " + e.getMessage(), "", e);
    }
    for (String line : lines) {
      Matcher servers = SERVERS.matcher(line);
      if (servers.matches()) {
        Matcher socket = SOCKET.matcher(servers.group(1));
        while (socket.find()) {
          sockets.add(Path.of(socket.group(1)));
        }
      }
    }
    return sockets;
  }
}
