package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files that reach a Debian guest's disk during its boot or before it: the install methods seed and
 * image.
 */
@Tag("integration")
@EnabledIfEnvironmentVariable(named = GuestLab.IMAGE, matches = ".+")
final class SeedGuestTest {
  @TempDir Path folder;
  private GuestLab lab;
  private String guest;
  private String descriptor;

  @BeforeEach
  void describe() throws Exception {
    lab = GuestLab.in(folder);
    guest = lab.name() + "-one";
    descriptor = lab.descriptor().toString();
    Files.write(folder.resolve("large"), new byte[60_000_000]);
  }

  private void describe(String way) throws Exception {
    Files.writeString(
        lab.descriptor(),
        """
        graft: 1
        name: %s
        gpus: [{name: gpu0, device: software}]
        guests:
          - name: %s
            image: %s
            memory: 512MiB
            setup: {way: %s, files: [{source: large, path: /srv/large}]}
            vgpu: {gpu: gpu0, channel: tcp}
            ready: {timeout: 20m}
        """
            .formatted(lab.name(), guest, GuestLab.image(), way));
  }

  @AfterEach
  void takeAway() throws Exception {
    lab.destroy();
  }

  @Test
  void aGuestThatRebootsWhileItsSeedIsCarriedOutGoesOnWithIt() throws Exception {
    describe("seed");
    GuestLab.Begun apply = lab.begin("apply", descriptor);
    apply.untilItSays("wait until its agent answers");
    lab.byAgent(guest, "until [ -e /srv/.graft-new/large ]; do sleep 0.1; done");
    lab.run(0, List.of("virsh", "-q", "-c", GuestLab.uri(), "reset", guest));
    apply.ends(0);
    assertThat(lab.inGuest(guest, "wc -c </srv/large; ls -A /srv")).isEqualTo("60000000\nlarge\n");
    assertThat(lab.graft(0, "verify", descriptor)).contains("ok on Graft software device 0");
    assertThat(lab.graft(0, "apply", descriptor)).contains("nothing to do");
  }

  /** This test needs libguestfs-tools and a kernel in /boot. */
  @Test
  @EnabledIf("hasLibguestfs")
  void aDiskIsSetUpBeforeItBoots() throws Exception {
    describe("image");
    assertThat(lab.graft(0, "plan", descriptor))
        .contains("install into its disk image")
        .doesNotContain("seed");
    lab.graft(0, "apply", descriptor);
    assertThat(lab.inGuest(guest, "wc -c </srv/large; ls -A /srv; cat /etc/hostname"))
        .isEqualTo("60000000\nlarge\n" + guest + "\n");
    assertThat(lab.graft(0, "verify", descriptor)).contains("ok on Graft software device 0");
    assertThat(lab.graft(0, "apply", descriptor)).contains("nothing to do");
  }

  static boolean hasLibguestfs() {
    return Files.isExecutable(Path.of("/usr/bin/virt-customize"));
  }
}
