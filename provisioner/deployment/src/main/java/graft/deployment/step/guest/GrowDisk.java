package graft.deployment.step.guest;

import graft.common.program.HostProgram;
import graft.common.values.MemorySize;
import graft.deployment.observe.FileFacts;
import graft.deployment.observe.QcowHeader;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.hypervisors.libvirt.DiskResize;
import graft.hypervisors.libvirt.Guest;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Makes a disk of a guest larger, also while the guest runs. A disk never shrinks: what the guest
 * wrote may lie beyond the new end. Undoing this step therefore leaves the disk as it is.
 *
 * @param disk its name; {@code root} for the one that the guest boots
 * @param target its qcow2 file
 */
public record GrowDisk(
    String uri, String guest, String uuid, String disk, MemorySize size, Path target)
    implements GuestStep {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** The step's identity for a disk of a guest. */
  public static String id(String guest, String disk) {
    return "guest/" + guest + "/" + name(disk);
  }

  private static String name(String disk) {
    return "grow-" + disk;
  }

  @Override
  public String name() {
    return name(disk);
  }

  @Override
  public String describe() {
    return "make its disk '" + disk + "' larger: " + size;
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot
        .file(target)
        .filter(file -> !file.readable() || file.diskSize() >= size.bytes())
        .isPresent();
  }

  @Override
  public String whyNotDone(Snapshot snapshot) {
    return snapshot
        .file(target)
        .map(FileFacts::diskSize)
        .map(bytes -> "it has " + new MemorySize(bytes))
        .orElse("gone from the host");
  }

  @Override
  public boolean isInPlace() {
    return true;
  }

  @Override
  public boolean isPluggable() {
    return true;
  }

  @Override
  public boolean isIndependent() {
    return true;
  }

  @Override
  public boolean leavesSomething() {
    return false;
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    if (QcowHeader.diskSize(target).orElse(0L) >= size.bytes()) {
      return Map.of();
    }
    Optional<Guest> domain =
        Domains.find(context.libvirt(uri), guest, uuid).filter(found -> found.state().isActive());
    if (domain.isPresent()) {
      DiskResize.grow(domain.get(), target, size);
      return Map.of();
    }
    List<String> arguments =
        List.of(
            "resize", "-q", "-f", "qcow2", "--", target.toString(), String.valueOf(size.bytes()));
    try {
      HostProgram.of("qemu-img", arguments).output(LIMIT);
    } catch (IOException e) {
      throw new StepFailure(
          "qemu-img could not make " + target + " larger: " + e.getMessage(),
          "is qemu-utils installed, and is there room? graft doctor says",
          e);
    }
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) {
    // The guest may use all of the disk.
  }
}
