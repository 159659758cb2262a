package graft.deployment.step.guest;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.values.UserName;
import graft.guests.connection.HostAddress;
import graft.guests.connection.SshLogin;
import graft.guests.payload.AnsibleHost;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What Ansible is started with to set a guest up. */
class InstallBySshTest {
  private static final SshLogin LOGIN =
      new SshLogin(
          new UserName("admin"),
          Optional.empty(),
          2222,
          Optional.of(Path.of("/keys of mine/{{ x }}/key")),
          Path.of("/state/known-hosts"));

  @Test
  void theCommandLineNamesFilesAndNothingOfTheGuests() {
    assertThat(InstallBySsh.arguments(Path.of("/tmp/graft-ssh1"), Path.of("/graft/guest.yml")))
        .containsExactly(
            "-i",
            "/tmp/graft-ssh1/inventory.yaml",
            "-e",
            "@/tmp/graft-ssh1/variables.yaml",
            "--",
            "/graft/guest.yml");
  }

  /** Ansible makes templates of such variables where they are not marked. */
  @Test
  void howToLogInIsMarkedAsNoTemplate() {
    Map<String, Object> host = InstallBySsh.login(new HostAddress("192.0.2.5"), LOGIN);
    assertThat(AnsibleHost.inventory(Map.of("alice", host)))
        .contains("ansible_host: !unsafe \"192.0.2.5\"")
        .contains("ansible_port: 2222")
        .contains("ansible_user: !unsafe \"admin\"")
        .contains("ansible_become: true")
        .contains("ansible_ssh_common_args: !unsafe \"-o BatchMode=yes")
        .contains("-o 'IdentityFile=\\\"/keys of mine/{{ x }}/key\\\"'\"");
  }
}
