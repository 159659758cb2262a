package graft.deployment.step.device;

import graft.deployment.observe.Snapshot;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.deployment.step.guest.Domains;
import graft.hypervisors.libvirt.DeviceScope;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.domain.HostdevElement;
import graft.hypervisors.libvirt.domain.HostdevSpec;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.w3c.dom.Element;

/**
 * Gives a guest a device that was taken from the host: in its definition, and at once if it runs.
 *
 * @param device its PCI address, or the UUID of a mediated device
 * @param permissive whether the guest may write all of its configuration space, on Xen
 */
public record AttachDevice(
    String uri, String guest, String uuid, String device, Optional<Boolean> permissive)
    implements GuestStep {
  @Override
  public String name() {
    return "attach-" + device;
  }

  @Override
  public String describe() {
    return "attach " + device + (permissive.orElse(false) ? ", permissive" : "");
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot
        .libvirt()
        .guest(guest, uuid)
        .map(g -> g.attached().contains(device))
        .orElse(false);
  }

  @Override
  public boolean isPluggable() {
    return true;
  }

  /** A guest that does not let go of it can be stopped, and then it is free. */
  @Override
  public boolean canBeLeft() {
    return true;
  }

  @Override
  public Map<String, Object> apply(StepContext context) {
    Guest domain = Domains.get(context.libvirt(uri), guest, uuid);
    if (!domain.definedHostDevices().contains(spec())) {
      domain.attach(element(), Set.of(DeviceScope.CONFIG));
    }
    if (domain.state().isActive() && !domain.hostDevices().contains(spec())) {
      domain.attach(element(), Set.of(DeviceScope.LIVE));
    }
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws InterruptedException {
    Optional<Guest> domain = Domains.find(context.libvirt(uri), guest, uuid);
    if (domain.isEmpty()) {
      return;
    }
    if (domain.get().state().isActive() && domain.get().hostDevices().contains(spec())) {
      unplug(domain.get(), context);
    }
    if (domain.get().definedHostDevices().contains(spec())) {
      domain.get().detach(HostdevElement.create(spec()), Set.of(DeviceScope.CONFIG));
    }
  }

  private void unplug(Guest domain, StepContext context) throws InterruptedException {
    HotUnplug.run(
        domain,
        HostdevElement.create(spec()),
        () -> domain.state().isActive() && domain.hostDevices().contains(spec()),
        context,
        this,
        () ->
            new StepFailure(
                "the guest '" + guest + "' does not release " + device,
                "stop what uses it there, or shut the guest down, then try again"));
  }

  private Element element() {
    Element element = HostdevElement.create(spec());
    return permissive.orElse(false) ? HostdevElement.permissive(element) : element;
  }

  private HostdevSpec spec() {
    return HostdevSpec.parse(device);
  }
}
