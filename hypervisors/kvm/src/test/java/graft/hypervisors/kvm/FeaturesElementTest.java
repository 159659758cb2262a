package graft.hypervisors.kvm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FeaturesElementTest {

  private static final String PLAIN =
      """
      <features>
        <acpi/>
        <apic/>
      </features>
      """;

  @Test
  void powerButtonAndInterruptController() {
    assertThat(Built.by(domain -> FeaturesElement.append(domain, Acceleration.KVM, false)))
        .isEqualTo(PLAIN);
  }

  @Test
  void hidesKvmsSignature() {
    assertThat(Built.by(domain -> FeaturesElement.append(domain, Acceleration.KVM, true)))
        .isEqualTo(
            """
            <features>
              <acpi/>
              <apic/>
              <kvm>
                <hidden state='on'/>
              </kvm>
            </features>
            """);
  }

  @Test
  void theEmulatorHasNoSignatureOfKvm() {
    assertThat(Built.by(domain -> FeaturesElement.append(domain, Acceleration.EMULATION, true)))
        .isEqualTo(PLAIN);
  }
}
