package graft.deployment.observe;

import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.guest.Existing;
import graft.deployment.descriptor.guest.Guest;
import graft.guests.connection.AgentConnection;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.GuestConnectionException;
import graft.guests.connection.HostAddress;
import graft.guests.connection.SshConnection;
import graft.guests.connection.SshLogin;
import graft.hypervisors.libvirt.ObservedGuest;
import graft.hypervisors.libvirt.calls.NotFoundException;
import graft.hypervisors.libvirt.existing.ExistingDomain;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Optional;

/** Looks at a libvirt domain that somebody else made. */
final class DomainObserver {
  private static final Duration AGENT = Duration.ofSeconds(5);

  private final DescriptorFile file;
  private final Connections connections;
  private final LibvirtFacts libvirt;

  DomainObserver(DescriptorFile file, Connections connections, LibvirtFacts libvirt) {
    this.file = file;
    this.connections = connections;
    this.libvirt = libvirt;
  }

  /**
   * A domain that was found.
   *
   * @param domain the domain, for operations on it
   */
  record Found(graft.hypervisors.libvirt.Guest domain, DomainFacts facts) {
    /** The connection to its guest. */
    GuestConnection connection() {
      return facts.ssh().isPresent()
          ? SshConnection.toKnown(facts.ssh().get())
          : new AgentConnection(domain);
    }

    /** The address of its guest, as this host reaches it; empty if it is not known. */
    Optional<String> address(Optional<HostAddress> given) {
      return switch (facts.card()) {
        case NONE -> Optional.empty();
        case USER -> Optional.of(InetAddress.getLoopbackAddress().getHostAddress());
        case NETWORK -> SshConnection.address(domain, given).map(HostAddress::text);
      };
    }
  }

  /** The domain; empty if libvirt has none of that name. */
  Optional<Found> find(Guest guest) {
    Existing existing = guest.existing().orElseThrow();
    try {
      return libvirt.answers()
          ? connections
              .get(libvirt.uri())
              .guest(existing.domain().orElseThrow().text())
              .map(domain -> new Found(domain, facts(guest, domain.observed())))
          : Optional.empty();
    } catch (NotFoundException e) {
      return Optional.empty(); // it was removed meanwhile
    }
  }

  private DomainFacts facts(Guest guest, ObservedGuest seen) {
    ExistingDomain domain = ExistingDomain.of(seen);
    Optional<SshLogin> ssh = ssh(guest, domain, seen);
    return new DomainFacts(
        seen.guest().uuid(),
        seen.state().isActive(),
        seen.state().words(),
        seen.metadata().map(made -> made.deployment()).orElse(""),
        ssh.isEmpty() && domain.hasAgentChannel(),
        ssh,
        domain.hasVsock(),
        domain.cid(),
        domain.card(),
        domain.freeSlots().size(),
        domain.attached());
  }

  /** The login, where the agent is not used: it needs neither a network nor a key. */
  private Optional<SshLogin> ssh(Guest guest, ExistingDomain domain, ObservedGuest seen) {
    Optional<SshLogin> given =
        guest
            .setup()
            .ssh()
            .map(login -> guest.existing().orElseThrow().login(login, file::resolve))
            .filter(login -> login.address().isPresent());
    return switch (guest.setup().way()) {
      case SSH -> given;
      case AUTO -> given.filter(login -> !domain.hasAgentChannel() || !agentAnswers(seen));
      default -> Optional.empty();
    };
  }

  private static boolean agentAnswers(ObservedGuest seen) {
    try {
      return seen.state().isActive() && new AgentConnection(seen.guest()).answers(AGENT);
    } catch (GuestConnectionException e) {
      return false;
    }
  }
}
