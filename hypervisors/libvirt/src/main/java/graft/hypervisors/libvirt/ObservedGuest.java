package graft.hypervisors.libvirt;

import graft.hypervisors.libvirt.domain.GuestMetadata;
import java.util.Optional;

/**
 * A guest as it was when the host was asked.
 *
 * @param guest to act on it
 * @param persistent whether its definition survives its end
 * @param metadata what this project left in it; absent for guests of others
 */
public record ObservedGuest(
    Guest guest, GuestState state, boolean persistent, Optional<GuestMetadata> metadata) {

  public String name() {
    return guest.name();
  }
}
