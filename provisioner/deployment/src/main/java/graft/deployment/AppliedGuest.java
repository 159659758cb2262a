package graft.deployment;

import graft.common.GraftException;
import graft.common.bind.Spelling;
import graft.deployment.journal.Entry;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Connections;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.guest.AwaitGuest;
import graft.deployment.step.guest.BringsPayload;
import graft.deployment.step.guest.ContainerConsole;
import graft.deployment.step.guest.DefineGuest;
import graft.deployment.step.guest.MakeToken;
import graft.deployment.step.guest.StartGuest;
import graft.deployment.step.machine.DomainStep;
import graft.deployment.step.machine.DomainTarget;
import graft.deployment.step.machine.MachineInstall;
import graft.deployment.step.machine.MachineStep;
import graft.guests.connection.ConsoleSession;
import graft.guests.connection.ConsoleStream;
import graft.guests.connection.ContainerTerminal;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.GuestConnections;
import graft.guests.connection.SshLogin;
import graft.guests.payload.Payload;
import graft.guests.payload.PayloadFile;
import graft.hypervisors.libvirt.ConsoleLog;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.GuestConsole;
import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.libvirt.calls.LibvirtUri;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** A guest of a deployment that was applied, and the connection to it. */
public final class AppliedGuest {
  private final JournalState journal;
  private final String name;

  private AppliedGuest(JournalState journal, String name) {
    this.journal = journal;
    this.name = name;
  }

  /** The guest of that name. */
  public static AppliedGuest of(JournalState journal, String guest) {
    List<String> names = names(journal);
    if (!names.contains(guest)) {
      throw new GraftException(
          "there is no guest '" + guest + "' in this deployment", Spelling.hint(guest, names));
    }
    return new AppliedGuest(journal, guest);
  }

  /** All guests of a deployment, also the machines that existed before. */
  public static List<String> names(JournalState journal) {
    return names(journal, step -> step instanceof DefineGuest || step instanceof MachineStep);
  }

  /** The guests that Graft made, with libvirt. */
  static List<String> made(JournalState journal) {
    return names(journal, DefineGuest.class::isInstance);
  }

  private static List<String> names(JournalState journal, Predicate<Step> kind) {
    return journal.entries().values().stream()
        .map(Entry::step)
        .filter(kind)
        .map(step -> step.chain().name())
        .distinct()
        .toList();
  }

  /** The guests with tokens, with which they authenticate to their servers. */
  static List<String> withToken(JournalState journal) {
    return names(journal).stream()
        .filter(name -> of(journal, name).steps().stream().anyMatch(MakeToken.class::isInstance))
        .toList();
  }

  public String name() {
    return name;
  }

  /** The guests with a vGPU, on this host or another machine. */
  public static List<String> withClient(JournalState journal) {
    return names(journal).stream()
        .filter(
            name ->
                of(journal, name).steps().stream()
                    .anyMatch(step -> step instanceof BringsPayload b && b.payload().hasClient()))
        .toList();
  }

  /** The guest's steps, from the journal. */
  public List<Step> steps() {
    return journal.entries().values().stream()
        .map(Entry::step)
        .filter(step -> step.chain().equals(Chain.guest(name())))
        .toList();
  }

  /** The path in the guest of a token that a file of the host keeps. */
  String place(Path token) {
    return steps().stream()
        .filter(BringsPayload.class::isInstance)
        .flatMap(step -> ((BringsPayload) step).payload().files().stream())
        .filter(file -> file.secret().equals(Optional.of(token)))
        .map(PayloadFile::path)
        .findFirst()
        .orElse(Payload.TOKEN);
  }

  /** The guest's step of that name, if the journal has it. */
  <T extends Step> Optional<T> step(Class<T> type, String name) {
    return journal.step("guest/" + name() + "/" + name, type);
  }

  /** The machine, if it existed before and Graft only installed something there. */
  Optional<MachineStep> machine() {
    List<MachineStep> steps =
        steps().stream()
            .filter(MachineStep.class::isInstance)
            .map(MachineStep.class::cast)
            .toList();
    // The installation knows how a domain is reached.
    return steps.stream()
        .filter(MachineInstall.class::isInstance)
        .findFirst()
        .or(() -> steps.stream().findFirst());
  }

  /** Whether Graft installs something in the guest, so that there is a connection to it. */
  boolean isConnected() {
    return steps().stream().anyMatch(MachineInstall.class::isInstance)
        || step(AwaitGuest.class, "ready").filter(ready -> ready.text().isEmpty()).isPresent();
  }

  /** Whether the guest is a machine that existed before. */
  public boolean isMachine() {
    return machine().isPresent();
  }

  /** Whether the guest runs; a machine that is not libvirt's counts as running. */
  boolean isActive(Connections connections) {
    if (machine().isPresent() && machine().get() instanceof DomainStep step) {
      DomainTarget target = step.target();
      return target
          .find(connections.get(target.uri()))
          .filter(domain -> domain.state().isActive())
          .isPresent();
    }
    return machine().isPresent() || domain(connections).state().isActive();
  }

  private DefineGuest defined() {
    return step(DefineGuest.class, "define")
        .orElseThrow(
            () ->
                new GraftException(
                    "the guest '" + name + "' is a machine that Graft did not make",
                    "what concerns the machine itself is done where it was made; graft exec, cp,"
                        + " verify, rotate and revoke reach it"));
  }

  /** The guest's libvirt domain. */
  public Guest domain(Connections connections) {
    DefineGuest defined = defined();
    return connections
        .get(defined.uri())
        .guest(name())
        .filter(guest -> guest.uuid().toString().equals(defined.uuid()))
        .orElseThrow(
            () ->
                new GraftException(
                    "libvirt has no guest '" + name() + "' any more",
                    "graft apply makes it again"));
  }

  /**
   * The console output of the guest since its start; empty if no file keeps it. libvirt does not
   * know the console files that Xen's toolstack writes; the step that started the guest does.
   */
  public Optional<ConsoleLog> console() {
    LibvirtUri uri = LibvirtUri.parse(defined().uri());
    return step(StartGuest.class, "start")
        .map(StartGuest::console)
        .filter(file -> !uri.isLocal() || Files.exists(file))
        .map(file -> new ConsoleLog(file, uri));
  }

  /**
   * Opens the guest's console for input.
   *
   * @param force whether to take it from whoever has it open
   * @throws GraftException if the guest is off, the console takes no input, or it is open elsewhere
   */
  public ConsoleStream openConsole(Connections connections, boolean force) throws IOException {
    Guest domain = domain(connections);
    if (!domain.state().isActive()) {
      throw new GraftException(
          "the guest '" + name + "' is off, so that its console takes no input",
          "start it with graft start; graft console --lines 40 shows what it printed last");
    }
    Optional<ConsoleLog> log = console();
    if (domain.isContainer() && log.isPresent() && Files.exists(log.get().path())) {
      Optional<Path> terminal = ContainerConsole.terminal(domain);
      if (terminal.isPresent()) {
        return ContainerTerminal.open(
            terminal.get(), log.get().path(), () -> domain.state().isActive(), force);
      }
    }
    if (!domain.consoleTakesInput()) {
      throw new GraftException(
          "the console of '" + name + "' is a file, which takes no input",
          "graft console --follow shows it; a guest that an earlier Graft has made gets a terminal"
              + " when it is made anew (graft destroy, graft apply), an HVM guest of Xen has none");
    }
    try {
      return ConsoleStream.of(domain.openConsole(force));
    } catch (HypervisorException e) {
      throw GuestConsole.isTaken(e) ? ConsoleSession.taken() : e;
    }
  }

  /** The guest connection: SSH where that is the install method, else the guest agent. */
  public GuestConnection open(Connections connections) {
    Optional<MachineStep> machine = machine();
    if (machine.isPresent()) {
      return machine.get().connection(connections::get);
    }
    Optional<SshLogin> ssh = step(AwaitGuest.class, "ready").flatMap(AwaitGuest::ssh);
    return GuestConnections.of(domain(connections), ssh);
  }
}
