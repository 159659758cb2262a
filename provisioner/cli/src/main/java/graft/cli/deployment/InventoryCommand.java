package graft.cli.deployment;

import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.common.GraftException;
import graft.common.values.UserName;
import graft.deployment.AppliedGuest;
import graft.deployment.Workspace;
import graft.deployment.journal.JournalState;
import graft.deployment.plan.GuestPayload;
import graft.deployment.step.guest.InstallBySsh;
import graft.guests.connection.SshLogin;
import graft.guests.payload.AnsibleHost;
import graft.hypervisors.libvirt.Guest;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code graft inventory}: the guests of a descriptor as an Ansible inventory. */
@Command(
    name = "inventory",
    mixinStandardHelpOptions = true,
    header = "Prints a descriptor's guests as an Ansible inventory.",
    description = {
      "",
      "For the playbook guest.yml in Graft's playbooks folder. Each host has the variables that the"
          + " playbook needs to set up its guest; secrets are named by their files on this machine."
          + " Guests without an address that this host reaches, such as those on QEMU's user-mode"
          + " network or a closed one, and machines that existed before are left out, and named on"
          + " standard error.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft inventory lab.yaml > hosts.yaml",
      "  cd playbooks && ansible-playbook -i ../hosts.yaml guest.yml --check"
    })
public final class InventoryCommand implements Callable<Integer> {
  @Mixin Output output;

  @Parameters(paramLabel = "DESCRIPTOR", description = "The descriptor.")
  Path descriptor;

  @Option(
      names = "--user",
      defaultValue = "root",
      description =
          "The user to log in as, where the descriptor names none (default: ${DEFAULT-VALUE}).")
  UserName user;

  @Override
  public Integer call() throws Exception {
    try (Workspace workspace = new Workspace(descriptor)) {
      JournalState journal = workspace.journal();
      Map<String, Map<String, Object>> hosts = new LinkedHashMap<>();
      for (GuestPayload guest : workspace.payloads(journal, workspace.observe(journal))) {
        try {
          hosts.put(guest.name(), host(guest, journal, workspace));
        } catch (GraftException e) {
          output.err().println("graft inventory: " + guest.name() + ": " + e.getMessage());
          output.err().flush();
        }
      }
      output.say(AnsibleHost.inventory(hosts).stripTrailing());
      output.foreignResult(AnsibleHost.json(hosts));
      return ExitCode.OK;
    }
  }

  private Map<String, Object> host(GuestPayload guest, JournalState journal, Workspace workspace) {
    if (!guest.isReached()) {
      throw new GraftException(
          "this host does not reach its networks, which end in its hypervisor",
          "put it on a libvirt network, or write setup: {ssh: {address: ...}}");
    }
    Guest domain = AppliedGuest.of(journal, guest.name()).domain(workspace.connections());
    SshLogin login = guest.ssh(user);
    Map<String, Object> host = InstallBySsh.host(domain, login, guest.payload());
    host.put("graft_checks", guest.checks());
    return host;
  }
}
