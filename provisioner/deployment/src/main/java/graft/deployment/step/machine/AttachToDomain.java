package graft.deployment.step.machine;

import graft.common.values.MemorySize;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.deployment.step.device.HotUnplug;
import graft.hypervisors.libvirt.DeviceScope;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.domain.HostdevElement;
import graft.hypervisors.libvirt.domain.HostdevSpec;
import graft.hypervisors.libvirt.domain.ShmemElement;
import graft.hypervisors.libvirt.domain.ShmemSpec;
import graft.hypervisors.libvirt.existing.ExistingDomain;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.w3c.dom.Element;

/**
 * Attaches a device to a domain that somebody else made: in its definition, and at once if it runs.
 *
 * @param device a PCI address or the UUID of a mediated device; with {@code memory} the name of
 *     shared memory
 * @param memory the size of shared memory
 */
public record AttachToDomain(
    String guest, DomainTarget target, String device, Optional<MemorySize> memory)
    implements DomainStep {
  @Override
  public String name() {
    return "attach-" + device;
  }

  @Override
  public String describe() {
    return "attach "
        + memory.map(size -> "the shared memory, " + size + ",").orElse(device)
        + " to the domain '"
        + target.domain()
        + "'";
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return seen(snapshot).map(facts -> facts.attached().contains(device)).orElse(false);
  }

  @Override
  public String whyNotDone(Snapshot snapshot) {
    return "not attached any more";
  }

  @Override
  public boolean isPluggable() {
    return true;
  }

  /** A domain that is gone has no devices; one that is there is asked. */
  @Override
  public boolean needsMachine() {
    return false;
  }

  @Override
  public Map<String, Object> apply(StepContext context) {
    Guest domain = target.get(context.libvirt(target.uri()));
    ExistingDomain there = ExistingDomain.of(domain.observed());
    boolean define = there.definition().filter(xml -> !has(xml)).isPresent();
    boolean plug = there.live().filter(xml -> !has(xml)).isPresent();
    Element element = element();
    there.freeSlots().stream()
        .findFirst()
        .ifPresentOrElse(
            slot -> slot.appendTo(element),
            () -> {
              if (define || plug) {
                throw new StepFailure(
                    "the domain '" + target.domain() + "' has no free PCI slot for " + device,
                    "give it a pcie-root-port while it is off: virsh edit " + target.domain());
              }
            });
    // The running domain first: what it refuses is not in its definition then.
    if (plug) {
      domain.attach(element, Set.of(DeviceScope.LIVE));
    }
    if (define) {
      domain.attach(element, Set.of(DeviceScope.CONFIG));
    }
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws InterruptedException {
    Optional<Guest> domain = target.find(context.libvirt(target.uri()));
    if (domain.isEmpty()) {
      return;
    }
    ExistingDomain there = ExistingDomain.of(domain.get().observed());
    if (there.live().filter(this::has).isPresent()) {
      unplug(domain.get(), context);
    }
    if (there.definition().filter(this::has).isPresent()) {
      domain.get().detach(element(), Set.of(DeviceScope.CONFIG));
    }
  }

  private void unplug(Guest domain, StepContext context) throws InterruptedException {
    HotUnplug.run(
        domain,
        element(),
        () -> ExistingDomain.of(domain.observed()).live().filter(this::has).isPresent(),
        context,
        this,
        () ->
            new StepFailure(
                "the guest in the domain '" + target.domain() + "' does not release " + device,
                "stop what uses it there, or shut the domain down, then try again"));
  }

  private boolean has(Element xml) {
    return ExistingDomain.attached(xml).contains(device);
  }

  private Element element() {
    return memory
        .map(size -> ShmemElement.create(new ShmemSpec(device, size)))
        .orElseGet(() -> HostdevElement.create(HostdevSpec.parse(device)));
  }
}
