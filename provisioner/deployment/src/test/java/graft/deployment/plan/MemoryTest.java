package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.deployment.descriptor.InvalidDescriptorException;
import graft.deployment.step.guest.DefineGuest;
import org.junit.jupiter.api.Test;

/** Guests whose memory changes: in place up to their maximum, else by a restart. */
class MemoryTest {
  private static final String LAB =
      """
      graft: 1
      name: lab
      guests:
        - name: alice
          image: debian.qcow2
          memory: 512MiB
          max-memory: 1GiB
      """;

  private final FakeHost host = new FakeHost().disk("/d/debian.qcow2", "10GiB");

  private Plan after(String before, String descriptor) throws Exception {
    host.carryOut(host.plan(before));
    return host.plan(descriptor);
  }

  private static String memory(String size) {
    return LAB.replace("512MiB", size);
  }

  @Test
  void changesInPlaceUpToTheMaximum() throws Exception {
    Plan grows = after(LAB, memory("768MiB"));
    assertThat(grows.actions())
        .extracting(Action::toString)
        .containsExactly("+ set its memory to 768MiB (changed: 512MiB → 768MiB)");
    assertThat(grows.toText()).contains("guest alice: changes in place");
    assertThat(after(memory("1GiB"), memory("256MiB")).actions()).hasSize(1);
    assertThat(host.plan(memory("1GiB")).isEmpty()).isTrue();
  }

  @Test
  void isSetBeforeTheFirstStart() throws Exception {
    assertThat(host.plan(LAB).toText())
        .containsSubsequence(
            "define it in libvirt (1 CPU, at most 1GiB)", "set its memory to 512MiB", "start it");
  }

  @Test
  void anotherMaximumRestartsTheGuest() throws Exception {
    String larger = LAB.replace("1GiB", "2GiB");
    assertThat(after(LAB, larger).toText()).contains("guest alice: restarts; its disks stay");
    String without = LAB.replace("    max-memory: 1GiB\n", "");
    assertThat(host.plan(without).toText()).contains("guest alice: restarts; its disks stay");
    assertThat(after(without, without.replace("512MiB", "768MiB")).toText())
        .contains("guest alice: restarts; its disks stay");
  }

  @Test
  void aMaximumThatCannotBeIsRefused() {
    assertThatThrownBy(() -> host.plan(memory("2GiB")))
        .isInstanceOf(InvalidDescriptorException.class)
        .hasMessageContaining("the guest's maximum 1GiB is less than its 2GiB");
    assertThatThrownBy(() -> host.plan(LAB + "    placement: {locked: true}\n"))
        .isInstanceOf(InvalidDescriptorException.class)
        .hasMessageContaining("holds all of its memory from its start");
    assertThatThrownBy(() -> host.plan(LAB + "    passthrough: [{device: '0000:65:00.0'}]\n"))
        .isInstanceOf(InvalidDescriptorException.class)
        .hasMessageContaining("a guest with devices of the host holds all of its memory");
  }

  /** A guest of an earlier Graft has a console without input. */
  @Test
  void aNewKindOfConsoleIsNoReasonForARestart() throws Exception {
    DefineGuest define =
        host.plan(LAB).actions().stream()
            .map(Action::step)
            .filter(DefineGuest.class::isInstance)
            .map(DefineGuest.class::cast)
            .findFirst()
            .orElseThrow();
    String former =
        define
            .xml()
            .replace("<serial type='pty'>", "<serial type='file'>")
            .replaceFirst("<log append='off' file='([^']*)'/>", "<source path='$1'/>");
    assertThat(former).isNotEqualTo(define.xml()).contains("<source path='/");
    DefineGuest made = withXml(define, former);
    assertThat(define.orMade(java.util.Optional.of(made))).isEqualTo(made);
    DefineGuest other = withXml(define, former.replace("<vcpu>1<", "<vcpu>2<"));
    assertThat(define.orMade(java.util.Optional.of(other))).isEqualTo(define);
    assertThat(define.orMade(java.util.Optional.empty())).isEqualTo(define);
  }

  private static DefineGuest withXml(DefineGuest define, String xml) {
    return new DefineGuest(define.uri(), define.guest(), define.uuid(), define.summary(), xml);
  }
}
