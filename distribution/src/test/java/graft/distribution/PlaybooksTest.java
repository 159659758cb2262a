package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Ansible's own look at the playbooks, and the guests' role on this machine, in a folder. */
@Tag("integration")
final class PlaybooksTest {
  private static final Path PLAYBOOKS = Checkout.ROOT.resolve("playbooks");

  @TempDir Path folder;

  @BeforeEach
  void anInventory() throws Exception {
    Files.writeString(folder.resolve("source"), "from a file\n");
    Files.writeString(folder.resolve("token"), "secret\n");
    Files.writeString(
        folder.resolve("hosts.yaml"),
        """
        all: {children: {graft_guests: {hosts: {here: {
          ansible_connection: local,
          graft_files: [
            {dest: %1$s/etc/client.conf, mode: "0644", group: root, content: "server = x\\n"},
            {dest: %1$s/lib/program, mode: "0755", group: root, src: %1$s/source},
            {dest: %1$s/etc/token, mode: "0600", group: root, src: %1$s/token, secret: true}],
          graft_checks: ["grep -q x %1$s/etc/client.conf"]}}}}}
        """
            .formatted(folder));
  }

  @Test
  void theyAreCleanForAnsibleLint() throws Exception {
    Finished lint =
        run(PLAYBOOKS, "ansible-lint", "--offline", "--nocolor", "guest.yml", "host.yml");
    assertThat(lint.code()).as(lint.out() + lint.err()).isZero();
  }

  @Test
  void theGuestsRoleBringsFilesOnceAndThenChangesNothing() throws Exception {
    assertThat(play("--check")).containsPattern("changed=[1-9]").contains("failed=0");
    assertThat(folder.resolve("etc")).doesNotExist();

    assertThat(play())
        .containsPattern("changed=[1-9]")
        .contains("failed=0")
        .doesNotContain("secret\n");
    assertThat(folder.resolve("etc/client.conf")).hasContent("server = x");
    assertThat(folder.resolve("etc/token")).hasContent("secret");
    assertThat(Files.isExecutable(folder.resolve("lib/program"))).isTrue();

    assertThat(play("--check")).containsPattern("changed=0 +unreachable=0 +failed=0");
    assertThat(play()).containsPattern("changed=0 +unreachable=0 +failed=0");
  }

  private String play(String... options) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                "ansible-playbook", "-i", folder.resolve("hosts.yaml").toString(), "guest.yml"));
    command.addAll(List.of(options));
    Finished play = run(PLAYBOOKS, command.toArray(String[]::new));
    assertThat(play.code()).as(play.out() + play.err()).isZero();
    return play.out();
  }

  private Finished run(Path where, String... command) throws Exception {
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("LC_ALL", "C.UTF-8");
    environment.put("ANSIBLE_NOCOLOR", "1");
    environment.put("HOME", folder.toString());
    return Finished.run(where, environment, List.of(command), Duration.ofMinutes(5));
  }
}
