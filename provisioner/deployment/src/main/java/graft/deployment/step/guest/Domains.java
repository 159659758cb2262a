package graft.deployment.step.guest;

import graft.deployment.step.StepFailure;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.LibvirtHost;
import java.util.Optional;

/** Finds Graft's guests in libvirt by name and UUID, so that guests of others are never used. */
public final class Domains {
  private Domains() {}

  /** The guest; empty if there is none of that name and UUID. */
  public static Optional<Guest> find(LibvirtHost host, String name, String uuid) {
    return host.guest(name).filter(guest -> guest.uuid().toString().equals(uuid));
  }

  /** The guest, which a step before must have defined. */
  public static Guest get(LibvirtHost host, String name, String uuid) {
    return find(host, name, uuid)
        .orElseThrow(
            () ->
                new StepFailure(
                    "the guest '" + name + "' is gone from libvirt at " + host.uri(),
                    "apply again to define it again"));
  }
}
