package graft.deployment.step.guest;

import static java.io.OutputStream.nullOutputStream;

import graft.common.disk.PrivateFiles;
import graft.common.program.HostProgram;
import graft.common.values.TimeSpan;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.guests.connection.GuestConnectionException;
import graft.guests.connection.HostAddress;
import graft.guests.connection.SshConnection;
import graft.guests.connection.SshLogin;
import graft.guests.connection.SshOptions;
import graft.guests.payload.AnsibleHost;
import graft.guests.payload.Payload;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.calls.GuestText;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Installs a guest's payload by Ansible over SSH, while the guest runs.
 *
 * @param playbooks the folder of Graft's playbooks
 */
public record InstallBySsh(
    String uri,
    String guest,
    String uuid,
    SshLogin ssh,
    Payload payload,
    Path playbooks,
    TimeSpan timeout)
    implements Install {
  private static final Pattern RECAP =
      Pattern.compile("(?m)^\\S+\\s+: ok=\\d+\\s+changed=(\\d{1,9})\\s+unreachable=0\\s+failed=0");
  private static final int LAST_LINES = 15;

  /** Ansible's time limit for a login and for sudo. Emulated guests on a busy host are slow. */
  private static final int PATIENCE_SECONDS = 60;

  private static final String INVENTORY = "inventory.yaml";
  private static final String VARIABLES = "variables.yaml";
  private static final String CONNECTION = "connection";
  private static final Duration SHORT = Duration.ofSeconds(20);

  /** The exit code of ansible-playbook for an unreachable host. */
  private static final int UNREACHABLE = 4;

  @Override
  public String method() {
    return "by SSH and Ansible";
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException, InterruptedException {
    Guest domain = Domains.get(context.libvirt(uri), guest, uuid);
    long start = System.nanoTime();
    Path folder = Files.createTempDirectory("graft-ssh"); // mode 0700
    try {
      SshConnection connection = SshConnection.to(domain, ssh);
      write(
          folder.resolve(INVENTORY),
          AnsibleHost.inventory(Map.of(guest, login(connection.address(), ssh))));
      write(folder.resolve(VARIABLES), AnsibleHost.yaml(AnsibleHost.variables(payload)));
      return Install.result(bring(context, domain, connection, timeout, () -> play(folder)), start);
    } finally {
      hangUp(folder.resolve(CONNECTION));
      PrivateFiles.deleteFolder(folder);
    }
  }

  /** Ends the connection that Ansible's tasks share, so that it does not outlive the step. */
  private static void hangUp(Path connection) throws IOException {
    if (Files.exists(connection)) {
      List<String> arguments =
          List.of("-O", "exit", "-o", "ControlPath=" + connection, "--", "guest");
      HostProgram.of("ssh", arguments)
          .run(SHORT, InputStream.nullInputStream(), nullOutputStream(), nullOutputStream());
    }
  }

  /** A guest as a host of an inventory: its login and its payload. */
  public static Map<String, Object> host(Guest domain, SshLogin ssh, Payload payload) {
    Map<String, Object> host = login(SshConnection.to(domain, ssh).address(), ssh);
    host.putAll(AnsibleHost.variables(payload));
    return host;
  }

  /** The variables of the login. */
  static Map<String, Object> login(HostAddress address, SshLogin ssh) {
    Map<String, Object> host = new LinkedHashMap<>();
    host.put("ansible_host", address.text());
    host.put("ansible_port", ssh.port());
    host.put("ansible_user", ssh.user().text());
    host.put("ansible_become", !ssh.user().isRoot());
    host.put("ansible_ssh_timeout", PATIENCE_SECONDS);
    host.put("ansible_ssh_common_args", SshOptions.line(ssh));
    return host;
  }

  private static void write(Path file, String text) throws IOException {
    PrivateFiles.write(file, text.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * The arguments of Ansible. The payload is passed as extra variables, which facts from the guest
   * cannot override.
   */
  static List<String> arguments(Path folder, Path playbook) {
    return List.of(
        "-i",
        folder.resolve(INVENTORY).toString(),
        "-e",
        "@" + folder.resolve(VARIABLES),
        "--",
        playbook.toString());
  }

  private int play(Path folder) throws IOException {
    List<String> arguments = arguments(folder, playbooks.resolve("guest.yml"));
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("ANSIBLE_CONFIG", playbooks.resolve("ansible.cfg").toString());
    environment.put("ANSIBLE_NOCOLOR", "1");
    environment.put("ANSIBLE_SSH_CONTROL_PATH", folder.resolve(CONNECTION).toString());
    environment.putIfAbsent("LC_ALL", "C.UTF-8"); // Ansible refuses to run without UTF-8
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    HostProgram.End end =
        HostProgram.of("ansible-playbook", arguments)
            .with(environment)
            .run(timeout.toDuration(), InputStream.nullInputStream(), output, output);
    String said = GuestText.printable(output.toString(StandardCharsets.UTF_8));
    Matcher recap = RECAP.matcher(said);
    if (end.code() == 0 && recap.find()) {
      return Integer.parseInt(recap.group(1));
    }
    List<String> lines = said.lines().filter(line -> !line.isBlank()).toList();
    String last =
        String.join("\n    ", lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
    String what =
        "Ansible could not set up the guest '"
            + guest
            + (end.late() ? "' within " + timeout : "'")
            + "; the end of what it said:\n    "
            + last;
    String next = "fix what the message names, then apply again";
    throw end.code() == UNREACHABLE
        ? new GuestConnectionException(what, next, true, null)
        : new StepFailure(what, next);
  }
}
