package graft.deployment.step.guest;

import graft.common.disk.PrivateFiles;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.StepContext;
import graft.guests.payload.CloudInitSeed;
import graft.guests.payload.FileStamp;
import graft.guests.payload.Payload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * Makes the seed that cloud-init reads when a guest's image boots for the first time.
 *
 * @param key the public key that may log in as root; absent where nobody needs to
 */
public record BuildSeed(
    String guest,
    String instance,
    Payload payload,
    Optional<FileStamp> userData,
    Optional<Path> key,
    Path target)
    implements PayloadStep {
  @Override
  public String name() {
    return "seed";
  }

  @Override
  public String describe() {
    return "make its cloud-init seed" + (payload.isEmpty() ? "" : " with " + payload.summary());
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.exists(target);
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    renew();
    return Map.of();
  }

  @Override
  public void renew() throws IOException {
    Optional<String> theirs =
        userData.isPresent()
            ? Optional.of(Files.readString(userData.get().path()))
            : Optional.empty();
    Optional<String> ours =
        key.isPresent() ? Optional.of(Files.readString(key.get()).strip()) : Optional.empty();
    PrivateFiles.write(target, new CloudInitSeed(instance, payload, theirs, ours)::writeTo);
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    PrivateFiles.delete(target);
  }
}
