package graft.deployment.step.guest;

import graft.deployment.observe.DefinitionFacts;
import graft.deployment.observe.GuestFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.LibvirtHost;
import graft.hypervisors.libvirt.domain.SerialElement;
import graft.hypervisors.libvirt.domain.Xml;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.w3c.dom.Document;

/**
 * Defines a guest in libvirt.
 *
 * @param summary the guest in a few words, for display
 * @param xml the whole domain XML
 */
public record DefineGuest(String uri, String guest, String uuid, String summary, String xml)
    implements GuestStep {
  /**
   * This definition, or the one that was made, if that one differs only in a console that takes no
   * input, which an earlier Graft gave to guests: a new console is no reason for a restart.
   */
  public DefineGuest orMade(Optional<DefineGuest> made) {
    return made.filter(is -> equals(is.withTerminal())).orElse(this);
  }

  /** Whether another definition is of the same guest, with the same settings in words. */
  public boolean isLike(DefineGuest other) {
    return new DefineGuest(uri, guest, uuid, summary, other.xml()).equals(other);
  }

  /** The same definition with a console that takes input. */
  public DefineGuest withTerminal() {
    if (!xml.contains("<serial type='file'>")) {
      return this;
    }
    Document domain = Xml.parse(xml);
    SerialElement.makeTerminals(domain.getDocumentElement());
    return new DefineGuest(uri, guest, uuid, summary, Xml.print(domain));
  }

  @Override
  public String name() {
    return "define";
  }

  @Override
  public String describe() {
    return "define it in libvirt (" + summary + ")";
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    Optional<GuestFacts> found = own(snapshot);
    return found.isPresent() && changes(found.get()).isEmpty();
  }

  @Override
  public String whyNotDone(Snapshot snapshot) {
    Optional<GuestFacts> found = own(snapshot);
    if (found.isEmpty()) {
      return "gone from the host";
    }
    String since =
        found
            .flatMap(GuestFacts::definition)
            .flatMap(DefinitionFacts::written)
            .map(time -> " at " + time)
            .orElse("");
    return "its definition was changed" + since + ": " + String.join(", ", changes(found.get()));
  }

  private Optional<GuestFacts> own(Snapshot snapshot) {
    return snapshot.libvirt().guest(guest, uuid).filter(GuestFacts::persistent);
  }

  /** What somebody has changed in libvirt since this step. */
  private List<String> changes(GuestFacts found) {
    return found
        .definition()
        .map(
            is ->
                is.differencesFrom(
                    DefinitionFacts.of(Xml.parse(xml).getDocumentElement(), Optional.empty())))
        .orElse(List.of());
  }

  @Override
  public Map<String, Object> apply(StepContext context) {
    context.libvirt(uri).define(xml, true);
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) {
    LibvirtHost host = context.libvirt(uri);
    Optional<Guest> found = Domains.find(host, guest, uuid);
    if (found.isPresent()) {
      found.get().destroy();
      // A guest that was undefined while it ran vanishes when it ends.
      Domains.find(host, guest, uuid).ifPresent(Guest::undefine);
    }
  }
}
