package graft.deployment.hosts;

import graft.common.GraftException;
import graft.common.json.Json;
import graft.common.program.HostProgram;
import graft.common.values.Name;
import graft.common.values.UserName;
import graft.deployment.descriptor.hosts.Host;
import graft.deployment.descriptor.hosts.HostFolder;
import graft.deployment.descriptor.hosts.HostSsh;
import graft.guests.connection.HostAddress;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Hosts from an inventory of Ansible's, as {@code ansible-inventory} reads it. */
public final class AnsibleInventory {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int MOST_BYTES = 64 << 20;
  private static final int SSH_PORT = 22;

  private AnsibleInventory() {}

  /**
   * The hosts of these names that an inventory has.
   *
   * @throws GraftException if it cannot be read, or a host has no proper address
   */
  public static List<Host> read(Path inventory, Set<Name> names) {
    ReplyOutput output = new ReplyOutput(MOST_BYTES, Clock.systemUTC());
    ByteArrayOutputStream errors = new ByteArrayOutputStream();
    String file = inventory.toAbsolutePath().toString();
    try {
      HostProgram.End end =
          HostProgram.of("ansible-inventory", List.of("-i", file, "--list"))
              .run(LIMIT, new ByteArrayInputStream(new byte[0]), output, errors);
      if (end.code() != 0 || output.isTruncated()) {
        String said = errors.toString(StandardCharsets.UTF_8).strip();
        throw new IOException(said.isEmpty() ? "it ended with " + end.code() : said);
      }
      return parse(output.toString(StandardCharsets.UTF_8), names);
    } catch (IOException e) {
      throw new GraftException(
          "ansible-inventory cannot read " + inventory + ": " + e.getMessage(),
          "is Ansible installed (apt-get install ansible-core), and does ansible-inventory -i "
              + file
              + " --list work?",
          e);
    }
  }

  /** The hosts of these names in what {@code ansible-inventory --list} prints. */
  static List<Host> parse(String json, Set<Name> names) throws IOException {
    Map<String, Object> tree = Json.readObject(json);
    Map<?, ?> variables =
        tree.get("_meta") instanceof Map<?, ?> meta && meta.get("hostvars") instanceof Map<?, ?> of
            ? of
            : Map.of();
    List<Host> hosts = new ArrayList<>();
    for (Name name : names.stream().sorted().toList()) {
      Optional<Map<?, ?>> its = variables(tree, variables, name.text());
      if (its.isPresent()) {
        hosts.add(host(name, its.get()));
      }
    }
    return hosts;
  }

  /** A host without variables is named in a group alone. */
  private static Optional<Map<?, ?>> variables(
      Map<String, Object> groups, Map<?, ?> variables, String name) {
    if (variables.get(name) instanceof Map<?, ?> its) {
      return Optional.of(its);
    }
    boolean isNamed =
        groups.values().stream()
            .anyMatch(
                group ->
                    group instanceof Map<?, ?> map
                        && map.get("hosts") instanceof List<?> hosts
                        && hosts.contains(name));
    return isNamed ? Optional.of(Map.of()) : Optional.empty();
  }

  private static Host host(Name name, Map<?, ?> variables) {
    try {
      UserName user = UserName.parse(text(variables, "ansible_user").orElse("root"));
      HostAddress address = HostAddress.parse(text(variables, "ansible_host").orElse(name.text()));
      int port = text(variables, "ansible_port").map(Integer::parseInt).orElse(SSH_PORT);
      if (port < 1 || port > 65535) {
        throw new IllegalArgumentException("ansible_port is " + port);
      }
      return new Host(
          name,
          HostSsh.of(user, address),
          port,
          text(variables, "ansible_ssh_private_key_file"),
          text(variables, "graft_known_hosts"),
          text(variables, "graft_address").map(HostAddress::parse),
          HostFolder.parse(text(variables, "graft_folder").orElse(HostFolder.DEFAULT)));
    } catch (IllegalArgumentException e) {
      throw new GraftException(
          "the inventory's host '" + name + "' cannot be reached: " + e.getMessage(),
          "correct ansible_host, ansible_user, ansible_port or Graft's variables of the host",
          e);
    }
  }

  private static Optional<String> text(Map<?, ?> variables, String key) {
    return Optional.ofNullable(variables.get(key)).map(Object::toString);
  }
}
