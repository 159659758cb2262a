package graft.guests.payload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.common.program.HostProgram;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.AbstractConstruct;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.Tag;

/** Texts reach a playbook as they are, whatever they mean to Ansible, Jinja, YAML or a shell. */
class AnsibleHostTest {
  @TempDir Path folder;

  /** With %s for a file that must not be made. */
  private static final List<String> HOSTILE =
      List.of(
          "{{ lookup('pipe', 'touch %s') }}",
          "{%% for x in lookup('pipe', 'touch %s') %%}{{ x }}{%% endfor %%}",
          "{%% set x = lookup('pipe', 'touch %s') %%}",
          "{# a comment #} {{ '{{' }} {%% raw %%}{{ x }}{%% endraw %%}",
          "{'a': {{ lookup('pipe', 'touch %s') }}}",
          "x\" !unsafe \"y: {{ lookup('pipe', 'touch %s') }}",
          "x'\n- {{ lookup('pipe', 'touch %s') }}\n# ",
          "\n\n# jinja2: lstrip_blocks: True\n{%% x %%}\n\n",
          "#jinja2:variable_start_string:'[[', variable_end_string:']]'\n[[ lookup('pipe', 'touch %s') ]]",
          "!vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  00",
          "$(touch %s)`touch %s`; touch %s #",
          "{\"a\":  1,\n \"b\": true}\n",
          "[1,2 , 3]\n",
          "True",
          "None",
          "0644",
          "1e3",
          "~",
          "@file",
          " leading and trailing \t",
          "a\r\nb\tc\u007f\u0085\u2028\u00a0\ufeff€ 🚀",
          "--- \n...\n%%YAML 1.1\n&a *a | > %% @ ` \\ \" ' , ] } :",
          "\u0001\u0007\u001b[2J",
          "");

  private List<String> texts() {
    String never = folder.resolve("evaluated").toString();
    return HOSTILE.stream().map(text -> text.replace("%s", never).replace("%%", "%")).toList();
  }

  private Map<String, Object> variables() {
    return variables(texts());
  }

  private Map<String, Object> variables(List<String> texts) {
    Map<String, Object> variables = new LinkedHashMap<>();
    variables.put("graft_texts", texts);
    variables.put("graft_folder", folder.toString());
    return variables;
  }

  @Test
  void everyTextIsMarkedAndComesBackAsItWas() {
    String yaml = AnsibleHost.yaml(variables());
    UnsafeReader reader = new UnsafeReader();
    assertThat(new Yaml(reader).<Map<String, Object>>load(yaml)).isEqualTo(variables());
    assertThat(reader.marked).isEqualTo(HOSTILE.size() + 1);
  }

  /** Reads YAML as Ansible does, and counts the texts that it would not make templates of. */
  private static final class UnsafeReader extends SafeConstructor {
    private int marked;

    UnsafeReader() {
      super(new LoaderOptions());
      yamlConstructors.put(new Tag("!unsafe"), new Text());
    }

    private final class Text extends AbstractConstruct {
      @Override
      public Object construct(Node node) {
        marked++;
        return ((ScalarNode) node).getValue();
      }
    }
  }

  @Test
  void inJsonEveryTextIsAnObjectThatIsNoTemplate() {
    Map<String, Object> host = new LinkedHashMap<>(variables());
    host.put("graft_port", 22);
    assertThat(AnsibleHost.json(Map.of("a", host)))
        .isEqualTo(
            Map.of(
                "all",
                Map.of(
                    "children",
                    Map.of(
                        "graft_guests",
                        Map.of(
                            "hosts",
                            Map.of(
                                "a",
                                Map.of(
                                    "graft_texts",
                                    texts().stream()
                                        .map(text -> Map.of("__ansible_unsafe", text))
                                        .toList(),
                                    "graft_folder",
                                    Map.of("__ansible_unsafe", folder.toString()),
                                    "graft_port",
                                    22)))))));
  }

  @Test
  void aPayloadsTextsAreMarkedInAnInventoryToo() {
    Payload payload =
        new Payload(
            "a",
            List.of(PayloadFile.text("{% x %}", "/etc/{{ y }}", 0644)),
            List.of("p"),
            List.of("A={{ z }}"),
            List.of("s.service"));
    Map<String, Object> host = new LinkedHashMap<>(AnsibleHost.variables(payload));
    host.put("ansible_port", 22);
    host.put("ansible_become", true);
    assertThat(AnsibleHost.inventory(Map.of("a", host)))
        .contains("content: !unsafe \"{% x %}\"", "dest: !unsafe \"/etc/{{ y }}\"")
        .contains("- !unsafe \"A={{ z }}\"", "ansible_port: 22", "ansible_become: true")
        .contains("graft_guests:\n      hosts:\n        a:\n");
  }

  @Test
  void ansibleWritesExtraVariablesByteForByteAndEvaluatesNothing() throws Exception {
    Path variables = Files.writeString(folder.resolve("v.yaml"), AnsibleHost.yaml(variables()));
    Path hosts =
        Files.writeString(
            folder.resolve("hosts.yaml"),
            AnsibleHost.inventory(Map.of("a", Map.of("ansible_connection", "local"))));
    play(texts(), "-i", hosts.toString(), "-e", "@" + variables);
  }

  @Test
  void ansibleWritesAnInventorysVariablesByteForByteAndEvaluatesNothing() throws Exception {
    List<String> templates = texts().subList(0, 6);
    Map<String, Object> host = new LinkedHashMap<>(variables(templates));
    host.put("ansible_connection", "local");
    Path hosts =
        Files.writeString(folder.resolve("hosts.yaml"), AnsibleHost.inventory(Map.of("a", host)));
    play(templates, "-i", hosts.toString());
  }

  /** Writes each text to a file by the module that the role takes, and as the role names it. */
  private void play(List<String> texts, String... arguments) throws IOException {
    assumeTrue(HostProgram.isThere("ansible-playbook", System.getenv()), "no Ansible here");
    Path playbook =
        Files.writeString(
            folder.resolve("play.yml"),
            """
            - hosts: graft_guests
              gather_facts: false
              tasks:
                - ansible.builtin.copy:
                    content: "{{ graft_texts[item] | string }}"
                    dest: "{{ graft_folder }}/written-{{ item }}"
                    mode: "0600"
                  loop: "{{ range(graft_texts | length) | list }}"
            """);
    List<String> words = new ArrayList<>(List.of(arguments));
    words.addAll(List.of("--", playbook.toString()));
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("ANSIBLE_CONFIG", Path.of("../../playbooks/ansible.cfg").toString());
    environment.put("ANSIBLE_NOCOLOR", "1");
    environment.put("LC_ALL", "C.UTF-8");
    environment.put("HOME", folder.toString());
    HostProgram.of("ansible-playbook", words).with(environment).output(Duration.ofMinutes(3));
    for (int i = 0; i < texts.size(); i++) {
      assertThat(Files.readString(folder.resolve("written-" + i), StandardCharsets.UTF_8))
          .isEqualTo(texts.get(i));
    }
    assertThat(folder.resolve("evaluated")).doesNotExist();
  }
}
