package graft.guests.connection;

import graft.hypervisors.libvirt.Guest;
import java.util.Optional;

/** Chooses between the ways to reach a running guest. */
public final class Reaches {
  private Reaches() {}

  /** By SSH where a login is given, else by the agent. */
  public static Reach of(Guest guest, Optional<SshLogin> ssh) {
    return ssh.isPresent() ? SshReach.to(guest, ssh.get()) : new AgentReach(guest);
  }
}
