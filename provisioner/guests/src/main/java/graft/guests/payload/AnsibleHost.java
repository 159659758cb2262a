package graft.guests.payload;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.yaml.snakeyaml.DumperOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.nodes.Tag;
import org.yaml.snakeyaml.representer.Representer;

/**
 * Writes payloads as an Ansible inventory, which the role {@code guest} in {@code playbooks/}
 * reads.
 */
public final class AnsibleHost {
  private AnsibleHost() {}

  /**
   * A payload as the variables of the role. Secrets are represented by their files, so that the
   * inventory does not contain them.
   */
  public static Map<String, Object> variables(Payload payload) {
    Map<String, Object> variables = new LinkedHashMap<>();
    List<Object> files = new ArrayList<>();
    for (PayloadFile file : payload.files()) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("dest", file.path());
      one.put("mode", String.format(Locale.ROOT, "%04o", file.mode()));
      one.put("group", file.group());
      file.text().ifPresent(text -> one.put("content", text));
      file.file().map(Path::toString).ifPresent(path -> one.put("src", path));
      if (file.secret().isPresent()) {
        one.put("secret", true);
      }
      files.add(one);
    }
    variables.put("graft_files", files);
    variables.put("graft_packages", payload.packages());
    variables.put("graft_environment", payload.environment());
    variables.put("graft_services", payload.services());
    return variables;
  }

  /** The inventory of the hosts, by name, in YAML. */
  public static String inventory(Map<String, Map<String, Object>> hosts) {
    return yaml(tree(hosts));
  }

  /**
   * The same inventory as a tree for JSON, which Ansible reads as well: every text is an object
   * that Ansible never treats as a template.
   *
   * @see <a
   *     href="https://github.com/ansible/ansible/blob/v2.14.18/lib/ansible/parsing/ajson.py">AnsibleJSONDecoder</a>
   */
  public static Map<String, Object> json(Map<String, Map<String, Object>> hosts) {
    Map<String, Object> unsafe = new LinkedHashMap<>();
    tree(hosts).forEach((key, value) -> unsafe.put(key, unsafe(value)));
    return unsafe;
  }

  private static Map<String, Object> tree(Map<String, Map<String, Object>> hosts) {
    Map<String, Object> group = Map.of("hosts", hosts);
    return Map.of("all", Map.of("children", Map.of("graft_guests", group)));
  }

  private static Object unsafe(Object tree) {
    if (tree instanceof Map<?, ?> map) {
      Map<String, Object> marked = new LinkedHashMap<>();
      map.forEach((key, value) -> marked.put(String.valueOf(key), unsafe(value)));
      return marked;
    }
    if (tree instanceof List<?> list) {
      return list.stream().map(AnsibleHost::unsafe).toList();
    }
    return tree instanceof String text ? Map.of("__ansible_unsafe", text) : tree;
  }

  /**
   * A tree in YAML, with every text marked {@code !unsafe}: Ansible then never treats a text as a
   * template.
   *
   * @see <a
   *     href="https://docs.ansible.com/ansible/latest/playbook_guide/playbooks_advanced_syntax.html">
   *     Ansible: Unsafe or raw strings</a>
   */
  public static String yaml(Map<String, Object> tree) {
    DumperOptions options = new DumperOptions();
    options.setDefaultFlowStyle(DumperOptions.FlowStyle.BLOCK);
    options.setSplitLines(false);
    return new Yaml(new Texts(options), options).dump(marked(tree));
  }

  /** Keys are not marked, because all of them are Graft's own names. */
  private static Object marked(Object tree) {
    if (tree instanceof Map<?, ?> map) {
      Map<Object, Object> marked = new LinkedHashMap<>();
      map.forEach((key, value) -> marked.put(key, marked(value)));
      return marked;
    }
    if (tree instanceof List<?> list) {
      return list.stream().map(AnsibleHost::marked).toList();
    }
    return tree instanceof String text ? new Text(text) : tree;
  }

  /** A text that Ansible never treats as a template. */
  private record Text(String text) {}

  /** Writes such texts in double quotes, which can represent every character. */
  private static final class Texts extends Representer {
    private static final Tag UNSAFE = new Tag("!unsafe");

    Texts(DumperOptions options) {
      super(options);
      representers.put(
          Text.class,
          data ->
              representScalar(
                  UNSAFE, ((Text) data).text(), DumperOptions.ScalarStyle.DOUBLE_QUOTED));
    }
  }
}
