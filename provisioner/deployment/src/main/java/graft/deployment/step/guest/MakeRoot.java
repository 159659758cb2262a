package graft.deployment.step.guest;

import graft.common.program.HostProgram;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.guests.container.RootFolder;
import graft.guests.payload.FileStamp;
import graft.hypervisors.libvirt.domain.Boot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Makes the root folder of a container, in a folder that its root alone may enter: other users of
 * the host could otherwise run a setuid program that the container made.
 *
 * @param source a folder, or an initramfs
 * @param folder the folder around the root folder
 * @param ids the users and groups of the host that the container has
 */
public record MakeRoot(String guest, FileStamp source, Path folder, Boot.IdRange ids)
    implements GuestStep {
  private static final Duration LIMIT = Duration.ofMinutes(10);

  /** The root folder of a container. */
  public static Path root(Path folder) {
    return folder.resolve("root");
  }

  @Override
  public String name() {
    return "root";
  }

  @Override
  public String describe() {
    return "make its root folder from " + source.path();
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.folders().contains(folder);
  }

  @Override
  public Optional<String> data() {
    return Optional.of("the root folder of " + guest + ", " + root(folder));
  }

  @Override
  public boolean isIndependent() {
    return true;
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    delete(); // what an interrupted run left
    Files.createDirectory(
        folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Files.createDirectory(root(folder));
    try {
      new RootFolder(root(folder), ids).fill(source.path());
    } catch (IOException e) {
      throw new StepFailure(
          "cannot make the root folder of '"
              + guest
              + "' from "
              + source.path()
              + ": "
              + e.getMessage(),
          "fix what the message names, then apply again",
          e);
    }
    // From here on the container's root may enter.
    for (String owner : List.of("unix:gid", "unix:uid")) {
      Files.setAttribute(folder, owner, (int) ids.first(), LinkOption.NOFOLLOW_LINKS);
    }
    return Map.of();
  }

  /**
   * Deletes the folder. The container may have nested folders more deeply than a path can say,
   * which rm(1) can delete; rm follows no links.
   */
  private void delete() throws IOException {
    if (Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
      HostProgram.of("rm", List.of("-rf", "--one-file-system", "--", folder.toString()))
          .output(LIMIT);
    }
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    delete();
  }
}
