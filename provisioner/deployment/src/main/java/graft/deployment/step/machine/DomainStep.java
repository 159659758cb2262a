package graft.deployment.step.machine;

import graft.deployment.observe.DomainFacts;
import graft.deployment.observe.MachineFacts;
import graft.deployment.observe.Snapshot;
import graft.guests.connection.GuestConnection;
import graft.hypervisors.libvirt.LibvirtHost;
import java.util.Optional;
import java.util.function.Function;

/** A step on a libvirt domain that somebody else made. */
public interface DomainStep extends MachineStep {
  /** The domain. */
  DomainTarget target();

  @Override
  default GuestConnection connection(Function<String, LibvirtHost> libvirt) {
    return target().connection(libvirt.apply(target().uri()));
  }

  @Override
  default String machine() {
    return "domain " + target().domain();
  }

  /** The domain as it was seen, if it is still the same one. */
  default Optional<DomainFacts> seen(Snapshot snapshot) {
    return Optional.ofNullable(snapshot.machines().get(guest()))
        .flatMap(MachineFacts::domain)
        .filter(facts -> facts.uuid().toString().equals(target().uuid()));
  }
}
