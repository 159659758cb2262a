package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Faults while Ansible sets up a Debian guest over SSH, which take an emulated guest a quarter of
 * an hour: {@code ./graft test --long}. {@link CloudGuestsTest} has one without faults.
 */
@Tag("integration")
@EnabledIfEnvironmentVariable(named = GuestLab.IMAGE, matches = ".+")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.HOST)
@ResourceLock(value = UnprivilegedServerTest.USER, mode = ResourceAccessMode.READ)
final class SshGuestTest {
  private static final String CHECK = "/usr/lib/graft/graft-verify --no-measure";
  private static final String PROGRAM = "/usr/local/bin/loop";

  @TempDir Path folder;
  private GuestLab lab;
  private String guest;
  private String descriptor;
  private Path text;

  @BeforeEach
  void describe() throws Exception {
    lab = GuestLab.in(folder);
    guest = lab.name() + "-far";
    descriptor = lab.descriptor().toString();
    text = Files.writeString(folder.resolve("text"), "one\n");
    lab.compileLoop();
    lab.run(0, List.of("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "key"));
    String key = Files.readString(folder.resolve("key.pub")).strip();
    Files.writeString(
        folder.resolve("users.yaml"),
        """
        #cloud-config
        users:
          - {name: admin, sudo: "ALL=(ALL) NOPASSWD:ALL", ssh_authorized_keys: ["%1$s"]}
          - {name: member, groups: video, ssh_authorized_keys: ["%1$s"]}
        """
            .formatted(key));
    describe("auto", "40m");
  }

  private void describe(String way, String timeout) throws Exception {
    Files.writeString(
        lab.descriptor(),
        """
        graft: 1
        name: %1$s
        gpus: [{name: gpu0, device: software}]
        networks: [{name: %1$s, address: %2$s/24}]
        guests:
          - name: %3$s
            image: %4$s
            memory: 512MiB
            networks: [%1$s]
            setup:
              way: %5$s
              user-data: users.yaml
              group: video
              files: [{source: text, path: /srv/text}, {source: loop, path: %6$s, mode: 0755}]
              ssh: {user: admin, key: key}
            vgpu: gpu0
            ready: {timeout: %7$s}
        """
            .formatted(lab.name(), lab.gateway(), guest, GuestLab.image(), way, PROGRAM, timeout));
  }

  @AfterEach
  void takeAway() throws Exception {
    lab.destroy();
  }

  @Test
  void itRecoversFromWhatGoesWrong() throws Exception {
    lab.graft(0, "apply", descriptor);
    thePlaybookChangesNothing();
    whereSshIsRefusedTheAgentIsTheInstallMethod();
    aKeyThatIsRefusedIsSaid();
  }

  /** Runs the playbook alone, with the inventory that graft prints. */
  private void thePlaybookChangesNothing() throws Exception {
    Path hosts = folder.resolve("hosts.yaml");
    Files.writeString(hosts, lab.graft(0, "inventory", descriptor));
    String play = Checkout.HOME.resolve("playbooks/guest.yml").toString();
    String configuration = "ANSIBLE_CONFIG=" + Checkout.HOME.resolve("playbooks/ansible.cfg");
    for (String option : List.of("--check", "--diff")) {
      assertThat(
              lab.run(
                  0,
                  List.of(
                      "env",
                      configuration,
                      "ansible-playbook",
                      "-i",
                      hosts.toString(),
                      play,
                      option)))
          .containsPattern("ok=[0-9]+ +changed=0 +unreachable=0 +failed=0");
    }
  }

  private void whereSshIsRefusedTheAgentIsTheInstallMethod() throws Exception {
    lab.byAgent(
        guest, "systemctl stop ssh.socket ssh.service; systemctl is-active ssh.service || true");
    Files.writeString(text, "two\n");
    describe("ssh", "10s");
    assertThat(lab.graft(5, "apply", "--keep-on-failure", descriptor))
        .contains("the guest '" + guest + "' was not ready within 10s; ssh admin@")
        .contains("Connection refused")
        .contains("does it run an SSH server that knows the key?");
    describe("auto", "40m");
    assertThat(lab.graft(0, "plan", descriptor))
        .contains("is set up by its agent: its agent answers, and nothing answers at its SSH port")
        .doesNotContain("start it");
    lab.graft(0, "apply", descriptor);
    assertThat(lab.inGuest(guest, "cat /srv/text; " + CHECK)).contains("two", "result=ok");
    lab.inGuest(guest, "systemctl start ssh.service");
    lab.graft(0, "apply", descriptor);
  }

  private void aKeyThatIsRefusedIsSaid() throws Exception {
    lab.byAgent(guest, "mv ~admin/.ssh/authorized_keys ~admin/.ssh/away");
    Files.writeString(text, "three\n");
    assertThat(lab.graft(5, "apply", "--keep-on-failure", descriptor))
        .contains("Permission denied");
    lab.byAgent(guest, "mv ~admin/.ssh/away ~admin/.ssh/authorized_keys");
    lab.graft(0, "apply", descriptor);
    assertThat(lab.inGuest(guest, "cat /srv/text")).contains("three");
  }
}
