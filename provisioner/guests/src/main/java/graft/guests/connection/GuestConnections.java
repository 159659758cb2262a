package graft.guests.connection;

import graft.hypervisors.libvirt.Guest;
import java.util.Optional;

/** Chooses the guest connection. */
public final class GuestConnections {
  private GuestConnections() {}

  /**
   * A connection by SSH if a login is given, else by the namespaces of a container, else by the
   * guest agent.
   */
  public static GuestConnection of(Guest guest, Optional<SshLogin> ssh) {
    return ssh.isPresent() ? SshConnection.to(guest, ssh.get()) : local(guest);
  }

  /** A connection that needs no network. */
  public static GuestConnection local(Guest guest) {
    return guest.isContainer() ? new ContainerConnection(guest) : new AgentConnection(guest);
  }
}
