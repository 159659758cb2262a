package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.json.Json;
import graft.guests.payload.AnsibleHost;
import graft.guests.payload.Payload;
import graft.guests.payload.PayloadFile;
import java.io.IOException;
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
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Ansible's own checks of the playbooks, and a run of the guests' role on this machine in a folder.
 */
@Tag("integration")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
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

  /** Variables as {@code graft inventory} prints them, read by the role for guests. */
  @Test
  void textsArriveByteForByteAndNoneOfThemIsEvaluated() throws Exception {
    Path evaluated = folder.resolve("evaluated");
    List<String> texts =
        List.of(
            "{{ lookup('pipe', 'touch " + evaluated + "') }}\n",
            "{% for x in lookup('pipe', 'touch " + evaluated + "') %}{{ x }}{% endfor %}",
            "{# a comment #} \" ' !unsafe \\ \n- next: [\n\n",
            "{\"a\":  1}\n",
            "[1,2 ]\n",
            "True");
    List<PayloadFile> files = new ArrayList<>();
    for (int i = 0; i < texts.size(); i++) {
      files.add(PayloadFile.text(texts.get(i), folder + "/{{ 1 }}/text-" + i, 0644));
    }
    Map<String, Object> host = new HashMap<>(AnsibleHost.variables(payload(files)));
    host.put("ansible_connection", "local");
    Files.writeString(folder.resolve("hosts.yaml"), AnsibleHost.inventory(Map.of("here", host)));
    assertThat(play()).contains("failed=0");
    for (int i = 0; i < texts.size(); i++) {
      assertThat(Files.readString(folder.resolve("{{ 1 }}/text-" + i))).isEqualTo(texts.get(i));
    }
    assertThat(evaluated).doesNotExist();
  }

  /**
   * A guest whose Python answers the first command with forged facts: they name files of this
   * machine to be copied into the guest, and a program of this machine that should copy them.
   */
  @Test
  void factsOfAHostileGuestBringItNoFilesOfThisMachine() throws Exception {
    Path python = folder.resolve("python");
    Files.writeString(
        python,
        """
        #!/bin/sh
        if [ $# -gt 0 ]; then cp "$1" %1$s/module; else cat >%1$s/module; fi
        if ! grep -q ansible.modules.command %1$s/module; then exec python3 %1$s/module; fi
        echo '{"changed": false, "rc": 0, "stdout": "", "stderr": "", "ansible_facts": {
          "ansible_sftp_executable": "%1$s/sftp",
          "graft_checks": ["touch %1$s/checked"],
          "graft_files": [
            {"dest": "%1$s/stolen", "mode": "0644", "group": "root", "src": "%1$s/token"}]}}'
        """
            .formatted(folder));
    assertThat(python.toFile().setExecutable(true)).isTrue();
    Map<String, Object> host =
        new HashMap<>(
            AnsibleHost.variables(
                payload(List.of(PayloadFile.text("mine\n", folder + "/mine", 0644)))));
    host.put("ansible_connection", "local");
    host.put("ansible_python_interpreter", python.toString());
    Files.writeString(folder.resolve("hosts.yaml"), AnsibleHost.inventory(Map.of("here", host)));

    assertThat(play()).contains("failed=0");
    assertThat(folder.resolve("mine")).hasContent("mine");
    assertThat(folder.resolve("stolen")).doesNotExist();
    assertThat(folder.resolve("checked")).doesNotExist();
  }

  @Test
  void withoutTheConfigurationBesideThemNothingIsDone() throws Exception {
    Finished play =
        run(
            folder,
            "ansible-playbook",
            "-i",
            folder.resolve("hosts.yaml").toString(),
            PLAYBOOKS.resolve("guest.yml").toString());
    assertThat(play.code()).isNotZero();
    assertThat(play.out()).contains("ANSIBLE_CONFIG set to the ansible.cfg there");
    assertThat(folder.resolve("etc")).doesNotExist();
  }

  private static String collectionVersion() throws IOException {
    return Files.readAllLines(PLAYBOOKS.resolve("galaxy.yml")).stream()
        .filter(line -> line.startsWith("version: "))
        .findFirst()
        .orElseThrow()
        .substring("version: ".length());
  }

  /** The collection of the same roles, as {@code ansible-galaxy} builds and installs it. */
  @Test
  void theyAreACollectionToo() throws Exception {
    String built = folder.resolve("built").toString();
    Path archive = folder.resolve("built/graft-setup-" + collectionVersion() + ".tar.gz");
    run(folder, "ansible-galaxy", "collection", "build", "" + PLAYBOOKS, "--output-path", built);
    assertThat(archive).exists();
    String installed = folder.resolve("collections").toString();
    Finished install =
        run(
            folder,
            "ansible-galaxy",
            "collection",
            "install",
            "--offline",
            "" + archive,
            "-p",
            installed);
    assertThat(install.code()).as(install.out() + install.err()).isZero();

    String hosts = folder.resolve("hosts.yaml").toString();
    List<String> guest = List.of("ansible-playbook", "-i", hosts, "graft.setup.guest");
    Map<String, String> environment = environment();
    environment.put("ANSIBLE_COLLECTIONS_PATH", installed);
    Finished refused = Finished.run(folder, environment, guest, Duration.ofMinutes(5));
    assertThat(refused.out()).contains("ANSIBLE_INJECT_FACT_VARS=False");
    assertThat(folder.resolve("etc")).doesNotExist();

    environment.put("ANSIBLE_INJECT_FACT_VARS", "False");
    Finished played = Finished.run(folder, environment, guest, Duration.ofMinutes(5));
    assertThat(played.out() + played.err()).contains("failed=0").containsPattern("changed=[1-9]");
    assertThat(folder.resolve("etc/client.conf")).hasContent("server = x");
    List<String> host =
        List.of("ansible-playbook", "-i", "here,", "--syntax-check", "graft.setup.host");
    assertThat(Finished.run(folder, environment, host, Duration.ofMinutes(5)).code()).isZero();
  }

  /** {@code graft inventory --output json} is an inventory for Ansible as the YAML is. */
  @Test
  void anInventoryInJsonIsReadAndNoneOfItsTextsIsEvaluated() throws Exception {
    Path evaluated = folder.resolve("evaluated");
    String text = "{{ lookup('pipe', 'touch " + evaluated + "') }}\n";
    Map<String, Object> host =
        new HashMap<>(
            AnsibleHost.variables(
                payload(List.of(PayloadFile.text(text, folder + "/text", 0644)))));
    host.put("ansible_connection", "local");
    Files.writeString(
        folder.resolve("hosts.yaml"), Json.pretty(AnsibleHost.json(Map.of("here", host))));
    assertThat(play()).contains("failed=0");
    assertThat(folder.resolve("text")).hasContent(text);
    assertThat(evaluated).doesNotExist();
  }

  private static Payload payload(List<PayloadFile> files) {
    return new Payload("here", files, List.of(), List.of(), List.of());
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
    return Finished.run(where, environment(), List.of(command), Duration.ofMinutes(5));
  }

  private Map<String, String> environment() {
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("LC_ALL", "C.UTF-8");
    environment.put("ANSIBLE_NOCOLOR", "1");
    environment.put("HOME", folder.toString());
    return environment;
  }
}
