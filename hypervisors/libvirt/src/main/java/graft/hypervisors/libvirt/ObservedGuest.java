package graft.hypervisors.libvirt;

import graft.hypervisors.libvirt.domain.GuestMetadata;
import java.util.Optional;

/**
 * The state of a guest when the host was asked.
 *
 * @param guest the guest, for operations on it
 * @param persistent whether the guest's definition remains after the guest stops
 * @param metadata Graft's metadata; absent for guests that are not Graft's
 */
public record ObservedGuest(
    Guest guest, GuestState state, boolean persistent, Optional<GuestMetadata> metadata) {

  public String name() {
    return guest.name();
  }
}
