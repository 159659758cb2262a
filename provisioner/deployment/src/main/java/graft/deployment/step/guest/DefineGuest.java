package graft.deployment.step.guest;

import graft.deployment.observe.Snapshot;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.LibvirtHost;
import java.util.Map;
import java.util.Optional;

/**
 * Defines a guest in libvirt.
 *
 * @param summary the guest in a few words, for display
 * @param xml the whole domain XML
 */
public record DefineGuest(String uri, String guest, String uuid, String summary, String xml)
    implements GuestStep {
  @Override
  public String name() {
    return "define";
  }

  @Override
  public String describe() {
    return "define it in libvirt (" + summary + ")";
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot
        .libvirt()
        .guest(guest)
        .filter(g -> g.uuid().toString().equals(uuid) && g.persistent())
        .isPresent();
  }

  @Override
  public Map<String, Object> apply(StepContext context) {
    context.libvirt(uri).define(xml, true);
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) {
    LibvirtHost host = context.libvirt(uri);
    Optional<Guest> found = Domains.find(host, guest, uuid);
    if (found.isPresent()) {
      found.get().destroy();
      // A guest that was undefined while it ran vanishes when it ends.
      Domains.find(host, guest, uuid).ifPresent(Guest::undefine);
    }
  }
}
