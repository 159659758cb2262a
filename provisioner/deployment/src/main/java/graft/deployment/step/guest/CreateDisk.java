package graft.deployment.step.guest;

import graft.common.disk.PrivateFiles;
import graft.common.program.HostProgram;
import graft.common.values.MemorySize;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.guests.connection.SshLogin;
import graft.guests.payload.FileStamp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Makes a disk of a guest as a qcow2 file: empty, or a copy-on-write copy of an image.
 *
 * @param backing the image; absent for an empty disk
 * @param backingFormat {@code qcow2} or {@code raw}; empty for an empty disk
 * @param size of an empty disk, or of one larger than its image
 */
public record CreateDisk(
    String guest,
    String disk,
    Optional<FileStamp> backing,
    String backingFormat,
    Optional<MemorySize> size,
    Path target)
    implements GuestStep {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** The same disk with another size. */
  public CreateDisk withSize(Optional<MemorySize> other) {
    return new CreateDisk(guest, disk, backing, backingFormat, other, target);
  }

  @Override
  public String name() {
    return "disk-" + disk;
  }

  @Override
  public String describe() {
    String from = backing.map(image -> " over " + image.path()).orElse("");
    return "make its disk '" + disk + "'" + size.map(s -> " of " + s).orElse("") + from;
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.exists(target);
  }

  @Override
  public Optional<String> data() {
    return Optional.of("the disk '" + disk + "' of " + guest + ", " + target);
  }

  @Override
  public boolean isIndependent() {
    return true;
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    undo(context, Map.of());
    List<String> arguments = new ArrayList<>(List.of("create", "-q", "-f", "qcow2"));
    if (backing.isPresent()) {
      arguments.addAll(List.of("-F", backingFormat, "-b", backing.get().path().toString()));
    }
    arguments.addAll(List.of("--", target.toString()));
    size.ifPresent(s -> arguments.add(String.valueOf(s.bytes())));
    try {
      HostProgram.of("qemu-img", arguments).output(LIMIT);
    } catch (IOException e) {
      throw new StepFailure(
          "qemu-img could not make " + target + ": " + e.getMessage(),
          "is qemu-utils installed, and is there room? graft doctor says",
          e);
    }
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    PrivateFiles.delete(target);
    Files.deleteIfExists(SshLogin.knownHostsBeside(target));
    UnfinishedRestore.deleted(target);
  }
}
