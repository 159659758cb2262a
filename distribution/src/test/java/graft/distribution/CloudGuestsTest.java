package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;

/**
 * Guests that boot a cloud image: one owns a GPU, the software device, and serves it to its
 * neighbour over the virtual network.
 */
@Tag("integration")
@EnabledIfEnvironmentVariable(named = "GRAFT_CLOUD_IMAGE", matches = ".+")
final class CloudGuestsTest {
  private static final String SETUP = "cloudtest-" + UUID.randomUUID().toString().substring(0, 8);
  private static final int SUBNET = 100 + ProcessHandle.current().hashCode() % 100;

  @TempDir Path folder;
  private String lab;

  @BeforeEach
  void describe() throws Exception {
    Path image = folder.resolve("lab.yaml");
    Files.writeString(folder.resolve("user.yaml"), "#cloud-config\nusers: [default, other]\n");
    Files.writeString(
        image,
        """
        graft: 1
        name: %1$s
        gpus: [{name: gpu0, device: software, owner: "guest:%1$s-owner"}]
        networks: [{name: %1$s, address: 192.168.%2$d.1/24}]
        guests:
          - name: %1$s-owner
            image: %3$s
            memory: 2GiB
            networks: [%1$s]
            ready: {timeout: 20m}
          - name: %1$s-near
            image: %3$s
            memory: 512MiB
            networks: [%1$s]
            setup: {way: agent, user-data: user.yaml}
            vgpu: gpu0
            ready: {timeout: 20m}
        """
            .formatted(SETUP, SUBNET, System.getenv("GRAFT_CLOUD_IMAGE")));
    lab = image.toString();
  }

  @AfterEach
  void takeAway() throws Exception {
    graft(0, "destroy", lab);
  }

  @Test
  void aGuestServesItsNeighbour() throws Exception {
    graft(0, "apply", lab);
    assertThat(graft(0, "apply", lab)).contains("nothing to do");
    assertThat(graft(0, "verify", lab)).contains("ok on Graft software device 0", "this Graft's");
    String check = "/usr/lib/graft/graft-verify --no-measure";
    assertThat(near("su other -s /bin/sh -c '" + check + "'")).contains("result=ok");
    assertThat(near("systemd-run --quiet --wait --pipe " + check)).contains("result=ok");

    graft(0, "revoke", SETUP, SETUP + "-near");
    assertThat(graft(1, "verify", lab)).contains("does not know this name with this token");
    graft(0, "rotate", SETUP);
    graft(0, "apply", lab);
    assertThat(graft(0, "verify", lab)).contains("ok on Graft software device 0");
  }

  private String near(String script) throws Exception {
    return graft(0, "exec", SETUP, SETUP + "-near", "--", "/bin/sh", "-c", script);
  }

  /** Runs graft; gives what it printed. */
  private String graft(int expected, String... words) throws Exception {
    List<String> command = new ArrayList<>(List.of(Checkout.HOME.resolve("bin/graft").toString()));
    command.addAll(List.of(words));
    Path out = folder.resolve("out");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile());
    builder.environment().put("GRAFT_STATE_DIR", folder.resolve("state").toString());
    Process process = builder.start();
    assertThat(process.waitFor(30, TimeUnit.MINUTES)).isTrue();
    String said = Files.readString(out);
    assertThat(process.exitValue()).as(said).isEqualTo(expected);
    return said;
  }
}
