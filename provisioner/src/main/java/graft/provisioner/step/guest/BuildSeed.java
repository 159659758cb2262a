package graft.provisioner.step.guest;

import graft.provisioner.observe.FileStamp;
import graft.provisioner.observe.Snapshot;
import graft.provisioner.setup.CloudInitSeed;
import graft.provisioner.setup.Payload;
import graft.provisioner.state.PrivateFiles;
import graft.provisioner.step.Lane;
import graft.provisioner.step.Step;
import graft.provisioner.step.StepContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Makes the seed that cloud-init reads when a guest's image boots for the first time. */
public record BuildSeed(
    String guest, String instance, Payload payload, Optional<FileStamp> userData, Path target)
    implements Step {
  @Override
  public Lane lane() {
    return Lane.guest(guest);
  }

  @Override
  public String name() {
    return "seed";
  }

  @Override
  public String describe() {
    int count = payload.files().size();
    return "make its cloud-init seed"
        + (count == 0 ? "" : " with " + count + " files")
        + (payload.client().isPresent() ? " and its token" : "");
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.exists(target);
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    Optional<String> theirs =
        userData.isPresent()
            ? Optional.of(Files.readString(userData.get().path()))
            : Optional.empty();
    byte[] image = CloudInitSeed.image(instance, payload.hostName(), payload.read(), theirs);
    PrivateFiles.write(target, image);
    return Map.of();
  }

  @Override
  public void undo(StepContext context) throws IOException {
    PrivateFiles.delete(target);
  }
}
