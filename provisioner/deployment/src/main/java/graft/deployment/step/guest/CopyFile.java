package graft.deployment.step.guest;

import graft.common.disk.PrivateFiles;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.guests.payload.FileStamp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Copies a file into a guest's folder, where the hypervisor's user can open it.
 *
 * @param what {@code kernel}, or a disk's name
 */
public record CopyFile(String guest, String what, FileStamp source, Path target)
    implements GuestStep {
  @Override
  public String name() {
    return what;
  }

  @Override
  public String describe() {
    return "copy its " + what + " from " + source.path();
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.exists(target);
  }

  @Override
  public boolean isIndependent() {
    return true;
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    PrivateFiles.write(target, out -> Files.copy(source.path(), out));
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    PrivateFiles.delete(target);
  }
}
