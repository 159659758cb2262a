package graft.deployment;

import graft.deployment.journal.Entry;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Connections;
import graft.deployment.observe.LibvirtRecords;
import graft.deployment.plan.ChannelChoice;
import graft.deployment.state.ChannelMeasurement;
import graft.deployment.state.MeasuredChannels;
import graft.deployment.state.ServerProcess;
import graft.deployment.state.StateFolder;
import graft.deployment.step.guest.AwaitGuest;
import graft.deployment.step.guest.DefineGuest;
import graft.deployment.step.host.HostServer;
import graft.deployment.step.machine.DomainStep;
import graft.deployment.step.machine.InstallOnMachine;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.GuestState;
import graft.hypervisors.libvirt.calls.HypervisorException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The state of the servers and guests of a deployment, with what their last apply found. */
public final class DeploymentStatus {
  private static final String RUNNING = GuestState.RUNNING.words();

  /** What Xen calls a running guest that waits. */
  private static final String BLOCKED = GuestState.BLOCKED.words();

  private static final String GONE = "gone";

  /** A machine that Graft did not make; only asking it shows whether it runs. */
  private static final String EXISTING = "existing";

  /** The states of a guest that runs no longer. */
  private static final Set<String> ENDED =
      Set.of(GONE, GuestState.SHUT_OFF.words(), GuestState.CRASHED.words());

  private final List<Map<String, Object>> servers = new ArrayList<>();
  private final List<Map<String, Object>> guests = new ArrayList<>();

  public DeploymentStatus(JournalState journal, Connections connections) {
    for (Entry entry : journal.entries().values()) {
      if (entry.step() instanceof HostServer server) {
        servers.add(server(server));
      } else if (entry.step() instanceof DefineGuest guest) {
        guests.add(guest(guest, journal, connections));
      } else if (entry.step() instanceof InstallOnMachine machine) {
        guests.add(machine(machine.guest(), EXISTING, machine.machine(), journal));
      } else if (entry.step() instanceof DomainStep domain && !isListed(domain.guest())) {
        guests.add(machine(domain.guest(), state(domain, connections), domain.machine(), journal));
      }
    }
  }

  /** The order of each guest's channels as it was applied, where no plan can be made. */
  public static List<ChannelChoice> channels(StateFolder state, JournalState journal) {
    Map<String, ChannelMeasurement> measured = new MeasuredChannels(state).all();
    return AppliedGuest.names(journal).stream()
        .flatMap(
            guest ->
                ChannelChoice.of(
                    state.deployment().text(),
                    guest,
                    AppliedGuest.of(journal, guest).steps(),
                    Optional.ofNullable(measured.get(guest)))
                    .stream())
        .toList();
  }

  private static Map<String, Object> server(HostServer server) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("gpu", server.gpu());
    tree.put("device", server.device());
    tree.put("listen", server.listen().stream().map(Object::toString).toList());
    Optional<ProcessHandle> process = ServerProcess.recorded(server.pidFile());
    tree.put("state", process.isPresent() ? "running" : "stopped");
    process.ifPresent(p -> tree.put("pid", p.pid()));
    return tree;
  }

  private static Map<String, Object> guest(
      DefineGuest defined, JournalState journal, Connections connections) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("name", defined.guest());
    String state = state(defined, connections);
    tree.put("state", state);
    if (ENDED.contains(state)) {
      LibvirtRecords.logged(defined.uri(), defined.guest())
          .ifPresent(time -> tree.put("since", time.toString()));
    }
    result(journal, defined.guest(), "ready")
        .ifPresent(r -> tree.put(AwaitGuest.BOOT_SECONDS, r.get(AwaitGuest.BOOT_SECONDS)));
    result(journal, defined.guest(), "verify").ifPresent(r -> tree.put("cuda", r));
    return tree;
  }

  private static Map<String, Object> machine(
      String guest, String state, String machine, JournalState journal) {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("name", guest);
    tree.put("state", state);
    tree.put("machine", machine);
    result(journal, guest, "verify").ifPresent(r -> tree.put("cuda", r));
    return tree;
  }

  /** A guest's first step that concerns its domain may have been undone before the others. */
  private boolean isListed(String guest) {
    return guests.stream().anyMatch(tree -> guest.equals(tree.get("name")));
  }

  private static String state(DomainStep domain, Connections connections) {
    try {
      return domain
          .target()
          .find(connections.get(domain.target().uri()))
          .map(Guest::state)
          .map(GuestState::words)
          .orElse(GONE);
    } catch (HypervisorException e) {
      return "unknown: " + e.getMessage();
    }
  }

  private static Optional<Map<String, Object>> result(
      JournalState journal, String guest, String step) {
    return journal.entry("guest/" + guest + "/" + step).filter(Entry::isDone).map(Entry::result);
  }

  private static String state(DefineGuest defined, Connections connections) {
    try {
      return connections
          .get(defined.uri())
          .guest(defined.guest())
          .filter(g -> g.uuid().toString().equals(defined.uuid()))
          .map(Guest::state)
          .map(GuestState::words)
          .orElse(GONE);
    } catch (HypervisorException e) {
      return "unknown: " + e.getMessage();
    }
  }

  /** Whether a guest of {@link #guests} runs now, as far as it is known without asking it. */
  public static boolean isRunning(Map<String, Object> guest) {
    return EXISTING.equals(guest.get("state"))
        || RUNNING.equals(guest.get("state"))
        || BLOCKED.equals(guest.get("state"));
  }

  /** The servers; each map can be added to. */
  public List<Map<String, Object>> servers() {
    return servers;
  }

  /** The guests; each map can be added to. */
  public List<Map<String, Object>> guests() {
    return guests;
  }
}
