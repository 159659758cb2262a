package graft.deployment.step.device;

import graft.deployment.observe.DefinitionFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.deployment.step.guest.Domains;
import java.nio.file.Path;
import java.util.Map;

/**
 * Gives a guest a disk that it was not defined with: in its definition, and at once if it runs.
 *
 * @param disk its name
 * @param file its qcow2 file
 * @param xml the disk's element
 */
public record AttachDisk(String uri, String guest, String uuid, String disk, Path file, String xml)
    implements GuestStep {
  @Override
  public String name() {
    return "attach-disk-" + disk;
  }

  @Override
  public String describe() {
    return "attach its disk '" + disk + "'";
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return DomainDevice.isDefined(snapshot, guest, uuid, is -> is.hasDisk(file.toString()));
  }

  @Override
  public String whyNotDone(Snapshot snapshot) {
    return "gone from its definition";
  }

  @Override
  public Snapshot without(Snapshot snapshot) {
    return snapshot.withDefinition(guest, (DefinitionFacts is) -> is.withoutDisk(file.toString()));
  }

  @Override
  public boolean isPluggable() {
    return true;
  }

  @Override
  public Map<String, Object> apply(StepContext context) {
    DomainDevice.disk(file.toString()).attach(Domains.get(context.libvirt(uri), guest, uuid), xml);
    return Map.of();
  }

  /** As long as the guest does not release it, its file stays. */
  @Override
  public void undo(StepContext context, Map<String, Object> before) throws InterruptedException {
    var domain = Domains.find(context.libvirt(uri), guest, uuid);
    if (domain.isPresent()) {
      DomainDevice.disk(file.toString()).detach(domain.get(), context, this);
    }
  }
}
