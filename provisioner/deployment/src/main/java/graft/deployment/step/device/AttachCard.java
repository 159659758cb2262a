package graft.deployment.step.device;

import graft.deployment.observe.DefinitionFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.deployment.step.guest.Domains;
import java.util.Map;

/**
 * Gives a guest a network card that it was not defined with: in its definition, and at once if it
 * runs.
 *
 * @param mac its Ethernet address, in small letters
 * @param network its network, for display
 * @param xml the card's element
 */
public record AttachCard(
    String uri, String guest, String uuid, String mac, String network, String xml)
    implements GuestStep {
  @Override
  public String name() {
    return "card-" + mac;
  }

  @Override
  public String describe() {
    return "attach a network card on " + network;
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return DomainDevice.isDefined(snapshot, guest, uuid, is -> network.equals(is.cards().get(mac)));
  }

  @Override
  public String whyNotDone(Snapshot snapshot) {
    return "gone from its definition";
  }

  @Override
  public Snapshot without(Snapshot snapshot) {
    return snapshot.withDefinition(guest, (DefinitionFacts is) -> is.withoutCard(mac));
  }

  @Override
  public boolean isPluggable() {
    return true;
  }

  /** A guest that does not release it can be stopped, and then it is free. */
  @Override
  public boolean canBeLeft() {
    return true;
  }

  @Override
  public Map<String, Object> apply(StepContext context) {
    DomainDevice.card(mac).attach(Domains.get(context.libvirt(uri), guest, uuid), xml);
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws InterruptedException {
    var domain = Domains.find(context.libvirt(uri), guest, uuid);
    if (domain.isPresent()) {
      DomainDevice.card(mac).detach(domain.get(), context, this);
    }
  }
}
