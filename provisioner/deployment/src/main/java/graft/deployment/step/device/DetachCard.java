package graft.deployment.step.device;

import graft.deployment.observe.DefinitionFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.deployment.step.guest.Domains;
import java.util.Map;

/**
 * Takes from a guest a network card that it was defined with: from its definition, and at once if
 * it runs.
 *
 * @param mac its Ethernet address, in small letters
 * @param network its network, for display
 * @param xml the card's element, to attach it again
 */
public record DetachCard(
    String uri, String guest, String uuid, String mac, String network, String xml)
    implements GuestStep {
  @Override
  public String name() {
    return "no-card-" + mac;
  }

  @Override
  public String describe() {
    return "detach its network card on " + network;
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return DomainDevice.isDefined(snapshot, guest, uuid, is -> !is.cards().containsKey(mac));
  }

  @Override
  public String whyNotDone(Snapshot snapshot) {
    return "it is in its definition again";
  }

  @Override
  public Snapshot without(Snapshot snapshot) {
    return snapshot.withDefinition(guest, (DefinitionFacts is) -> is.withCard(mac, network));
  }

  @Override
  public boolean isPluggable() {
    return true;
  }

  /** The guest can be removed without the card. */
  @Override
  public boolean canBeLeft() {
    return true;
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws InterruptedException {
    DomainDevice.card(mac).detach(Domains.get(context.libvirt(uri), guest, uuid), context, this);
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) {
    Domains.find(context.libvirt(uri), guest, uuid)
        .ifPresent(domain -> DomainDevice.card(mac).attach(domain, xml));
  }
}
