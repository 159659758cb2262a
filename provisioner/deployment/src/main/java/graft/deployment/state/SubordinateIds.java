package graft.deployment.state;

import graft.common.disk.StateDisk;
import graft.hypervisors.libvirt.domain.Boot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The users and groups of the host that containers have, in subuid(5) and subgid(5). useradd and
 * other container managers look there; systemd-nspawn does not.
 *
 * @param folder the folder of the two files, {@code /etc}
 * @param lock the file that processes lock while they change the two files
 */
public record SubordinateIds(Path folder, Path lock) {
  /** The number of users of a container: as many as a system has. */
  public static final long COUNT = 65_536;

  /**
   * The first number that containers of Graft's may have, and the last: a part of what systemd
   * leaves to containers (its UIDS-GIDS.md), below the users of Graft's workers.
   */
  private static final long FIRST = 0x50000000L;

  private static final long LAST = 0x6fffffffL;

  /** For how long useradd(8) waits, too. */
  private static final Duration LIMIT = Duration.ofSeconds(15);

  private static final List<String> FILES = List.of("subuid", "subgid");
  private static final Pattern LINE = Pattern.compile("([^:#]*):(\\d{1,10}):(\\d{1,10})");

  /** Those of this host. */
  public static SubordinateIds ofHost() {
    return new SubordinateIds(Path.of("/etc"), Path.of("/run/graft-subordinate.lock"));
  }

  /** The numbers that somebody has, from both files. */
  public List<Boot.IdRange> taken() {
    List<Boot.IdRange> taken = new ArrayList<>();
    try {
      for (String name : FILES) {
        lines(name).forEach(line -> range(line, taken));
      }
    } catch (IOException e) {
      throw new UncheckedIOException("reading the users of containers in " + folder, e);
    }
    return taken;
  }

  /** The lines that both files have. */
  public Set<String> inBoth() {
    try {
      Set<String> both = new HashSet<>(lines(FILES.get(0)));
      both.retainAll(lines(FILES.get(1)));
      return both;
    } catch (IOException e) {
      throw new UncheckedIOException("reading the users of containers in " + folder, e);
    }
  }

  private static void range(String line, List<Boot.IdRange> ranges) {
    Matcher matcher = LINE.matcher(line.strip());
    if (matcher.matches()) {
      long first = Long.parseLong(matcher.group(2));
      long count = Long.parseLong(matcher.group(3));
      if (first > 0 && count > 0) {
        ranges.add(new Boot.IdRange(first, count));
      }
    }
  }

  /**
   * The first numbers for a container that nobody has.
   *
   * @throws IllegalStateException if all are taken
   */
  public static Boot.IdRange free(List<Boot.IdRange> taken) {
    for (long first = FIRST; first + COUNT - 1 <= LAST; first += COUNT) {
      Boot.IdRange candidate = new Boot.IdRange(first, COUNT);
      if (taken.stream().noneMatch(candidate::overlaps)) {
        return candidate;
      }
    }
    throw new IllegalStateException("all users for containers are taken: see /etc/subuid");
  }

  /**
   * Registers numbers for a container, unless they are registered for it.
   *
   * @param owner whose they are; no user of that name need exist
   * @throws TakenException if somebody else has registered some of them
   */
  public void register(String owner, Boot.IdRange ids) throws IOException {
    String own = line(owner, ids);
    locked(
        () -> {
          for (String name : FILES) {
            List<String> lines = lines(name);
            if (lines.contains(own)) {
              continue;
            }
            for (String line : lines) {
              List<Boot.IdRange> other = new ArrayList<>();
              range(line, other);
              if (other.stream().anyMatch(ids::overlaps)) {
                throw new TakenException(
                    folder.resolve(name) + " already lists some of these users: " + line);
              }
            }
            lines.add(own);
            write(name, lines);
          }
        });
  }

  /** Removes what {@link #register} wrote, and nothing else. */
  public void remove(String owner, Boot.IdRange ids) throws IOException {
    String own = line(owner, ids);
    locked(
        () -> {
          for (String name : FILES) {
            List<String> lines = lines(name);
            if (lines.removeIf(own::equals)) {
              write(name, lines);
            }
          }
        });
  }

  /** The line in both files that registers numbers. */
  public static String line(String owner, Boot.IdRange ids) {
    return owner + ":" + ids.first() + ":" + ids.count();
  }

  private List<String> lines(String name) throws IOException {
    Path file = folder.resolve(name);
    return Files.exists(file) ? new ArrayList<>(Files.readAllLines(file)) : new ArrayList<>();
  }

  private void write(String name, List<String> lines) throws IOException {
    Path file = folder.resolve(name);
    Set<PosixFilePermission> mode =
        Files.exists(file)
            ? Files.getPosixFilePermissions(file)
            : Set.of(
                PosixFilePermission.OWNER_READ,
                PosixFilePermission.OWNER_WRITE,
                PosixFilePermission.GROUP_READ,
                PosixFilePermission.OTHERS_READ);
    String text = lines.isEmpty() ? "" : String.join("\n", lines) + "\n";
    Path unfinished = folder.resolve("." + name + ".graft");
    Files.writeString(
        unfinished,
        text,
        StandardOpenOption.CREATE,
        StandardOpenOption.TRUNCATE_EXISTING,
        StandardOpenOption.WRITE,
        StandardOpenOption.SYNC);
    Files.setPosixFilePermissions(unfinished, mode);
    Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
    StateDisk.get().syncFolder(folder);
  }

  /** Somebody else has some of the numbers. */
  public static final class TakenException extends IOException {
    private static final long serialVersionUID = 1L;

    TakenException(String message) {
      super(message);
    }
  }

  private interface Work {
    void run() throws IOException;
  }

  private void locked(String name, Work work) throws IOException {
    ShadowLock lock = ShadowLock.of(folder.resolve(name), LIMIT);
    try {
      work.run();
    } finally {
      lock.release();
    }
  }

  /** Deployments change the files at the same time, and so does useradd(8). */
  private void locked(Work work) throws IOException {
    synchronized (SubordinateIds.class) { // a lock of a file is held by the whole process
      try (FileChannel channel =
              FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
          FileLock held = channel.lock()) {
        if (held.isValid()) {
          locked("subuid", () -> locked("subgid", work));
        }
      }
    }
  }
}
