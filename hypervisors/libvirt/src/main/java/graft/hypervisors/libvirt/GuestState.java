package graft.hypervisors.libvirt;

import java.util.Locale;

/** The state of a guest in its life cycle; the numbers are those of libvirt's virDomainState. */
public enum GuestState {
  /** libvirt cannot tell. */
  NO_STATE,
  RUNNING,
  /** Waiting for a resource; Xen only. */
  BLOCKED,
  PAUSED,
  /** Shutting down. */
  SHUTTING_DOWN,
  SHUT_OFF,
  CRASHED,
  /** Suspended by its own power management. */
  SUSPENDED;

  private static final GuestState[] BY_NUMBER = values();

  static GuestState of(int number) {
    return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : NO_STATE;
  }

  /** The state in words: {@code shut off}. */
  public String words() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  /** Whether a hypervisor process or a Xen domain exists for the guest. */
  public boolean isActive() {
    return this != SHUT_OFF && this != CRASHED && this != NO_STATE;
  }
}
