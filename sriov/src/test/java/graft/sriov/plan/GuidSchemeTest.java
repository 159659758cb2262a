package graft.sriov.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.sriov.Guid;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class GuidSchemeTest {
  private static final Guid PF = Guid.parse("0c42:a103:0016:9f8e");

  @Test
  void theSchemeNeverChanges() {
    // If these values changed, VFs of running fabrics would get other GUIDs after an upgrade.
    // Computed with: printf '0200475241465400 0c42a10300169f8e' | xxd -r -p | sha256sum
    assertThat(GuidScheme.DEFAULT.of(PF, 0)).hasToString("02:98:9b:c4:83:da:50:00");
    assertThat(GuidScheme.DEFAULT.of(PF, 125)).hasToString("02:98:9b:c4:83:da:50:7d");
  }

  @Test
  void theFirstOctetIsTheBasesAndTheLast12BitsAreTheIndex() {
    Guid guid = new GuidScheme(Guid.parse("0600:0000:0000:0001")).of(PF, 0xabc);
    assertThat(guid.value() >>> 56).isEqualTo(0x06);
    assertThat(guid.value() & 0xfff).isEqualTo(0xabc);
  }

  @Test
  void allVfsOfTenThousandAdaptersWithNeighbouringGuidsAreDifferent() {
    Set<Long> prefixes = new HashSet<>();
    for (long i = 0; i < 10_000; i++) {
      prefixes.add(GuidScheme.DEFAULT.of(new Guid(PF.value() + i), 0).value() >>> 12);
    }
    assertThat(prefixes).as("the index has bits of its own").hasSize(10_000);
  }

  @Test
  void anotherBaseGivesOtherGuids() {
    GuidScheme other = new GuidScheme(Guid.parse("0200:0000:0000:0002"));
    assertThat(other.of(PF, 0)).isNotEqualTo(GuidScheme.DEFAULT.of(PF, 0));
  }

  @Test
  void anIndexWithoutRoomIsRefused() {
    assertThatThrownBy(() -> GuidScheme.DEFAULT.of(PF, 4096))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
