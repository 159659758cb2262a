package graft.remoting.server.jail;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The cgroup (version 2) {@code /sys/fs/cgroup/graft}, in which each worker has a cgroup of its
 * own. The names contain the server's process id, so that cgroups which a killed server left behind
 * can be recognized.
 */
public final class WorkerCgroups {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerCgroups.class);
  private static final List<String> CONTROLLERS = List.of("memory", "pids", "cpu");
  private static final AtomicLong NUMBER = new AtomicLong();

  private final Path folder;

  private WorkerCgroups(Path folder) {
    this.folder = folder;
  }

  /**
   * Prepares the parent cgroup.
   *
   * @param mount where the hierarchy is mounted
   * @throws IOException if that is not possible, with the reason
   */
  public static WorkerCgroups open(Path mount) throws IOException {
    Path controllers = mount.resolve("cgroup.controllers");
    if (!Files.exists(controllers)) {
      throw new IOException(mount + " is no cgroup hierarchy of version 2");
    }
    List<String> there = List.of(Files.readString(controllers).strip().split(" "));
    if (!there.containsAll(CONTROLLERS)) {
      throw new IOException(mount + " lacks one of the controllers " + CONTROLLERS);
    }
    Path folder = mount.resolve("graft");
    try {
      Files.createDirectories(folder);
      delegate(mount);
      delegate(folder);
    } catch (IOException e) {
      throw new IOException("cannot divide " + mount + ": " + e.getMessage(), e);
    }
    WorkerCgroups cgroups = new WorkerCgroups(folder);
    cgroups.sweep();
    return cgroups;
  }

  private static void delegate(Path folder) throws IOException {
    Path delegated = folder.resolve("cgroup.subtree_control");
    List<String> now = List.of(Files.readString(delegated).strip().split(" "));
    for (String controller : CONTROLLERS) {
      if (!now.contains(controller)) {
        Files.writeString(delegated, "+" + controller);
      }
    }
  }

  /** Returns a name that no other worker has. The jail creates the cgroup. */
  public Path next() {
    return folder.resolve(ProcessHandle.current().pid() + "-" + NUMBER.incrementAndGet());
  }

  /** Removes the cgroup of a worker that has ended. */
  static void remove(Path cgroup) {
    try {
      Files.delete(cgroup);
    } catch (NoSuchFileException e) {
      // The worker ended before its jail created the cgroup.
    } catch (IOException e) {
      LOG.warn("cannot remove the cgroup of a worker that has ended: {}", e.getMessage());
    }
  }

  /** Removes the cgroups that killed servers left behind. */
  private void sweep() throws IOException {
    try (DirectoryStream<Path> left = Files.newDirectoryStream(folder, "*-*")) {
      for (Path cgroup : left) {
        String server = cgroup.getFileName().toString().replaceFirst("-.*", "");
        if (server.matches("\\d{1,9}") && ProcessHandle.of(Long.parseLong(server)).isEmpty()) {
          remove(cgroup);
        }
      }
    }
  }
}
