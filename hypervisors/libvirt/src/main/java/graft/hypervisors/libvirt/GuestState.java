package graft.hypervisors.libvirt;

/** Where a guest is in its life; numbers from libvirt's virDomainState. */
public enum GuestState {
  /** libvirt does not know. */
  NO_STATE,
  RUNNING,
  /** Waits for a resource; Xen only. */
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

  /** Whether there is a hypervisor process or domain behind it. */
  public boolean isActive() {
    return this != SHUT_OFF && this != CRASHED && this != NO_STATE;
  }
}
