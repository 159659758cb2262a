package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;

import graft.deployment.observe.DefinitionFacts;
import graft.deployment.step.guest.DefineGuest;
import graft.hypervisors.libvirt.domain.Xml;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What somebody did to a guest beside Graft is a difference, with its reason. */
class LiveDriftTest {
  private static final String LAB =
      """
      graft: 1
      name: lab
      guests:
        - name: alice
          kernel: {image: vmlinuz, initramfs: initramfs.cpio}
          memory: 512MiB
      """;

  private final FakeHost host = new FakeHost();

  @BeforeEach
  void apply() throws Exception {
    host.file("/d/vmlinuz").file("/d/initramfs.cpio");
    host.carryOut(host.plan(LAB));
    assertThat(host.plan(LAB).isEmpty()).isTrue();
  }

  private List<String> actions() throws Exception {
    return host.plan(LAB).actions().stream().map(Action::toString).toList();
  }

  private String definition() {
    return host.steps("alice").stream()
        .filter(DefineGuest.class::isInstance)
        .map(step -> ((DefineGuest) step).xml())
        .findFirst()
        .orElseThrow();
  }

  private static DefinitionFacts facts(String xml) {
    return DefinitionFacts.of(
        Xml.parse(xml).getDocumentElement(), Optional.of(Instant.parse("2026-11-25T19:00:00Z")));
  }

  @Test
  void aPausedGuestGoesOnWithoutARestart() throws Exception {
    host.paused("alice");
    assertThat(actions())
        .startsWith("+ start it (it is paused)")
        .noneMatch(action -> action.startsWith("- undo"));
  }

  @Test
  void aGuestThatIsOffSaysSo() throws Exception {
    host.off("alice");
    assertThat(actions()).startsWith("+ start it (it is shut off)");
  }

  @Test
  void aChangedDefinitionIsReplacedAndSaysWhatAndSinceWhen() throws Exception {
    host.redefined("alice", facts(definition()));
    assertThat(actions()).as("Graft's own definition").isEmpty();
    String more = definition().replace("<memory unit='KiB'>524288", "<memory unit='KiB'>1048576");
    assertThat(more).isNotEqualTo(definition());
    host.redefined("alice", facts(more));
    assertThat(actions())
        .startsWith("- undo: start it")
        .anyMatch(
            action ->
                action.endsWith(
                    "(its definition was changed at 2026-11-25T19:00:00Z: memory 512MiB → 1GiB)"));
  }
}
