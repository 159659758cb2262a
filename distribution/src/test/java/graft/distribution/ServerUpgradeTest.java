package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;

/**
 * A guest with the server of an earlier Graft, whose only unit ran it as root, gets today's. The
 * earlier bundle stands beside the descriptor, where it comes before the one that is built in.
 */
@Tag("integration")
@Timeout(value = 75, unit = TimeUnit.MINUTES)
@EnabledIfEnvironmentVariable(named = GuestLab.IMAGE, matches = ".+")
final class ServerUpgradeTest {
  /** The users of the processes that run {@code graft serve}; the shell that looks is not one. */
  private static final String USERS =
      "for f in /proc/[0-9]*; do if tr '\\0' ' ' <$f/cmdline | grep -q 'graft.cli.Main[ ]serve';"
          + " then stat -c %U $f; fi; done 2>/dev/null | sort -u";

  /** Under emulation, with other load, a restart takes minutes. */
  private static final Duration RESTART_LIMIT = Duration.ofMinutes(15);

  @TempDir Path folder;
  private GuestLab lab;
  private String guest;

  @AfterEach
  void takeAway() throws Exception {
    lab.destroy();
  }

  @Test
  void theServerOfRootIsReplaced() throws Exception {
    lab = GuestLab.in(folder);
    guest = lab.name() + "-owner";
    Path bundle = folder.resolve("bundles/graft-server/bundle.yaml");
    layEarlier(bundle);
    describe();
    String descriptor = lab.descriptor().toString();
    lab.graft(0, "apply", descriptor);
    assertThat(lab.inGuest(guest, USERS)).isEqualTo("root\n");
    assertThat(lab.inGuest(guest, "stat -c '%a %U' /etc/graft/server.tokens"))
        .isEqualTo("600 root\n");

    Files.delete(bundle);
    lab.graft(0, "apply", descriptor);
    assertThat(lab.graft(0, "apply", descriptor)).contains("nothing to do");
    theServerIsTodays();

    restart();
    theServerIsTodays();
  }

  private void theServerIsTodays() throws Exception {
    lab.inGuest(guest, "timeout 300 systemctl start graft-server");
    assertThat(lab.inGuest(guest, USERS)).isEqualTo("graft\n");
    assertThat(lab.inGuest(guest, "systemctl is-active graft-starter graft-server"))
        .isEqualTo("active\nactive\n");
    assertThat(lab.inGuest(guest, "systemctl is-enabled graft-server")).isEqualTo("enabled\n");
    assertThat(lab.inGuest(guest, "stat -c '%a %U' /etc/graft/server.tokens"))
        .isEqualTo("600 graft\n");
    assertThat(lab.inGuest(guest, "ss -Hltn 'sport = 7799'")).contains("0.0.0.0:7799");
  }

  /** Restarts the guest, whose boot starts the server. */
  private void restart() throws Exception {
    String boot = lab.inGuest(guest, "cat /proc/sys/kernel/random/boot_id").strip();
    lab.run(0, List.of("virsh", "-q", "-c", GuestLab.uri(), "reboot", guest));
    lab.run(
        0,
        List.of(
            "/bin/sh",
            "-c",
            "end=$(($(date +%s) + $4)); until id=$(timeout 120 \"$0\" exec \"$1\" \"$2\" --"
                + " cat /proc/sys/kernel/random/boot_id) && [ \"$id\" != \"$3\" ]; do"
                + " [ \"$(date +%s)\" -lt \"$end\" ] || { echo 'not restarted'; exit 1; }; sleep 1; done",
            Checkout.HOME.resolve("bin/graft").toString(),
            lab.name(),
            guest,
            boot,
            Long.toString(RESTART_LIMIT.toSeconds())));
  }

  private void describe() throws IOException {
    Files.writeString(
        lab.descriptor(),
        """
        graft: 1
        name: %1$s
        networks: [{name: %1$s, address: %2$s/24}]
        guests:
          - name: %3$s
            image: %4$s
            memory: 1GiB
            networks: [%1$s]
            ready: {timeout: 20m}
            setup:
              bundles: [{name: graft-server, set: [device=software]}]
        """
            .formatted(lab.name(), lab.gateway(), guest, GuestLab.image()));
  }

  private static void layEarlier(Path bundle) throws IOException {
    Files.createDirectories(bundle.getParent());
    try (InputStream in =
        ServerUpgradeTest.class.getResourceAsStream("/former-graft-server.yaml")) {
      Files.copy(in, bundle);
    }
  }
}
