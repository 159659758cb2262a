package graft.deployment.step.device;

import graft.common.values.MemorySize;
import graft.deployment.observe.DefinitionFacts;
import graft.deployment.observe.GuestFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.Await;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.deployment.step.guest.Domains;
import graft.hypervisors.libvirt.Guest;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Sets how much memory a guest with a maximum has, now and at its next start.
 *
 * @param memory at most the maximum that the guest is defined with
 */
public record SetMemory(String uri, String guest, String uuid, MemorySize memory)
    implements GuestStep {
  private static final Await PATIENCE = new Await(Duration.ofSeconds(60), Duration.ofMillis(100));
  private static final String BEFORE = "bytes";

  @Override
  public String name() {
    return "memory";
  }

  @Override
  public String describe() {
    return "set its memory to " + memory;
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    Optional<GuestFacts> found = own(snapshot);
    return found.isPresent() && now(found).map(size -> size.mib() == memory.mib()).orElse(true);
  }

  @Override
  public String whyNotDone(Snapshot snapshot) {
    return now(own(snapshot)).map(size -> "it has " + size).orElse("gone from the host");
  }

  private Optional<GuestFacts> own(Snapshot snapshot) {
    return snapshot.libvirt().guest(guest, uuid);
  }

  private static Optional<MemorySize> now(Optional<GuestFacts> found) {
    return found.flatMap(GuestFacts::definition).flatMap(DefinitionFacts::currentMemory);
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
  public Map<String, Object> before(StepContext context) {
    return defined(Domains.get(context.libvirt(uri), guest, uuid))
        .<Map<String, Object>>map(size -> Map.of(BEFORE, size.bytes()))
        .orElse(Map.of());
  }

  private static Optional<MemorySize> defined(Guest domain) {
    return DefinitionFacts.of(domain.definitionXml().getDocumentElement(), Optional.empty())
        .currentMemory();
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws InterruptedException {
    Guest domain = Domains.get(context.libvirt(uri), guest, uuid);
    domain.size().setMemory(memory);
    // A container's limit changes at once; what libvirt says of its memory is what it uses.
    if (domain.state().isActive() && !domain.isContainer()) {
      Await.Outcome outcome =
          PATIENCE.until(
              () -> has(domain) ? Await.Answer.YES : Await.Answer.NOT_YET,
              seconds ->
                  context.progress(
                      this, "it has " + domain.info().memory() + " after " + seconds + " s"),
              context::isStopping);
      if (outcome != Await.Outcome.READY) {
        throw new StepFailure(
            "the guest '"
                + guest
                + "' has "
                + domain.info().memory()
                + " of memory, and not "
                + memory
                + ", "
                + PATIENCE.timeout().toSeconds()
                + " s after it was told",
            "is the module virtio_balloon loaded in it, and does it use less? A guest without that"
                + " driver has its maximum from its start");
      }
    }
    return Map.of();
  }

  private boolean has(Guest domain) {
    return domain.info().memory().mib() == memory.mib();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) {
    if (!(before.get(BEFORE) instanceof Number bytes)) {
      return;
    }
    MemorySize size = new MemorySize(bytes.longValue());
    Domains.find(context.libvirt(uri), guest, uuid)
        .filter(domain -> !defined(domain).equals(Optional.of(size)))
        .ifPresent(domain -> domain.size().setMemory(size));
  }
}
