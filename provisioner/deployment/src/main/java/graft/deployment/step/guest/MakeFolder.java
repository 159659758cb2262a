package graft.deployment.step.guest;

import graft.deployment.observe.Snapshot;
import graft.deployment.state.PrivateFiles;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;

/**
 * Makes the folder of a guest's files: kernel, initramfs, disks, console log. The hypervisor's user
 * may enter it, as libvirt's own image folder; the files are private.
 *
 * @param parents the number of folders above it that Graft made, and removes when they are empty
 */
public record MakeFolder(String guest, Path folder, int parents) implements Step {
  @Override
  public Chain chain() {
    return Chain.guest(guest);
  }

  @Override
  public String name() {
    return "folder";
  }

  @Override
  public String describe() {
    return "make the folder " + folder;
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.folders().contains(folder);
  }

  /** The folder, and the disks in it, stay when a guest gets a vGPU later. */
  @Override
  public boolean isIndependent() {
    return true;
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    Path ours = folder;
    for (int i = 0; i < parents; i++) {
      ours = ours.getParent();
    }
    Files.createDirectories(ours.getParent());
    make(ours);
    for (Path part : ours.relativize(folder)) {
      if (!part.toString().isEmpty()) {
        ours = ours.resolve(part);
        make(ours);
      }
    }
    return Map.of();
  }

  private static void make(Path folder) throws IOException {
    Files.createDirectories(folder);
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx--x--x"));
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    PrivateFiles.deleteFolder(folder);
    Path parent = folder.getParent();
    for (int i = 0; i < parents; i++) {
      try {
        Files.deleteIfExists(parent);
      } catch (DirectoryNotEmptyException e) {
        return; // another guest's files are there
      }
      parent = parent.getParent();
    }
  }
}
