package graft.deployment.state;

import static org.assertj.core.api.Assertions.assertThat;

import graft.deployment.state.DeviceClaims.Holder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Claims of devices, and what a process leaves that is killed while it makes one. */
class DeviceClaimsTest {
  private static final String DEVICE = "0000:3b:00.1";
  private static final Holder ALICE = new Holder("lab", "alice");
  private static final Holder BOB = new Holder("lab", "bob");

  @TempDir Path folder;

  @Test
  void whatAKilledProcessLeftGoesWithTheNextClaim() throws IOException {
    Files.writeString(folder.resolve("." + DEVICE + ".lab"), "lab/al");
    DeviceClaims claims = new DeviceClaims(folder);
    claims.claim(DEVICE, ALICE);
    assertThat(claims.all()).containsOnlyKeys(DEVICE).containsValue(ALICE);
    assertThat(names()).containsExactly(DEVICE);
  }

  @Test
  void whatAKilledProcessLeftGoesWhenTheDeviceIsGivenBack() throws IOException {
    Files.writeString(folder.resolve("." + DEVICE + ".lab"), "");
    new DeviceClaims(folder).release(DEVICE, ALICE);
    assertThat(names()).isEmpty();
  }

  @Test
  void aClaimThatWasKilledAtItsEndStaysAsItIs() throws IOException {
    DeviceClaims claims = new DeviceClaims(folder);
    claims.claim(DEVICE, ALICE);
    Files.createLink(folder.resolve("." + DEVICE + ".lab"), folder.resolve(DEVICE));
    org.assertj.core.api.Assertions.assertThatThrownBy(() -> claims.claim(DEVICE, BOB))
        .hasMessageContaining("was given to the guest 'alice'");
    assertThat(claims.all()).containsValue(ALICE);
    assertThat(names()).containsExactly(DEVICE);
  }

  /** As a power cut left claims of versions that did not sync them. */
  @Test
  void aClaimThatSaysNothingIsNone() throws IOException {
    Files.writeString(folder.resolve(DEVICE), "");
    DeviceClaims claims = new DeviceClaims(folder);
    assertThat(claims.all()).isEmpty();
    claims.claim(DEVICE, ALICE);
    assertThat(claims.all()).containsOnlyKeys(DEVICE).containsValue(ALICE);
    Files.writeString(folder.resolve(DEVICE), "");
    claims.release(DEVICE, BOB);
    assertThat(names()).isEmpty();
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }
}
