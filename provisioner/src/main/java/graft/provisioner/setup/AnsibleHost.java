package graft.provisioner.setup;

import graft.provisioner.GraftException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.yaml.snakeyaml.DumperOptions;
import org.yaml.snakeyaml.Yaml;

/** Payloads as an Ansible inventory: what the role {@code guest} in {@code playbooks/} reads. */
public final class AnsibleHost {
  private AnsibleHost() {}

  /** A payload as the role's variables. Secrets are named by their files and not shown. */
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

  /** An inventory of these hosts, by name, in YAML. */
  public static String inventory(Map<String, Map<String, Object>> hosts) {
    Map<String, Object> group = Map.of("hosts", hosts);
    Map<String, Object> root = Map.of("all", Map.of("children", Map.of("graft_guests", group)));
    DumperOptions options = new DumperOptions();
    options.setDefaultFlowStyle(DumperOptions.FlowStyle.BLOCK);
    options.setWidth(120);
    String text = new Yaml(options).dump(root);
    if (text.contains("{{")) {
      // Ansible would take it for a template of its own.
      throw new GraftException(
          "a bundle holds '{{', which Ansible would not leave as it is",
          "bring it in another way, or put the text into a file and name it as a source");
    }
    return text;
  }
}
