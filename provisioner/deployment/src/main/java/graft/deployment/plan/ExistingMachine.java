package graft.deployment.plan;

import graft.common.bind.Position;
import graft.common.bind.Problems;
import graft.common.values.MemorySize;
import graft.deployment.descriptor.guest.Existing;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.SetupFile;
import graft.deployment.descriptor.guest.Ssh;
import graft.deployment.fabric.DomainFit;
import graft.deployment.fabric.GuestDevices;
import graft.deployment.observe.DomainFacts;
import graft.deployment.observe.FileFacts;
import graft.deployment.observe.MachineFacts;
import graft.deployment.step.Step;
import graft.deployment.step.machine.AttachToDomain;
import graft.deployment.step.machine.DomainTarget;
import graft.deployment.step.machine.FindDomain;
import graft.deployment.step.machine.InstallOnDomain;
import graft.deployment.step.machine.InstallOnMachine;
import graft.deployment.step.machine.VerifyOnDomain;
import graft.deployment.step.machine.VerifyOnMachine;
import graft.guests.bundle.TreeFile;
import graft.guests.connection.SshLogin;
import graft.guests.machine.MachineReport;
import graft.guests.payload.FileStamp;
import graft.guests.payload.Payload;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A machine that exists already: what on it is in the way of the client, and the steps that give it
 * its access to a GPU.
 */
final class ExistingMachine {
  private static final long KIB = 1024;

  /** The archive, the files beside their places, and the copies that the machine keeps. */
  private static final int COPIES = 3;

  private static final String CPU = "x86_64";

  private final PlanInput input;
  private final Guest guest;
  private final Existing existing;
  private final MachineFacts facts;

  ExistingMachine(PlanInput input, Guest guest) {
    this.input = input;
    this.guest = guest;
    this.existing = guest.existing().orElseThrow();
    this.facts = input.snapshot().machines().get(guest.name().text());
  }

  List<Step> steps(ServerSteps servers) {
    return existing.domain().isPresent() ? domainSteps(servers) : sshSteps(servers);
  }

  private List<Step> sshSteps(ServerSteps servers) {
    String name = guest.name().text();
    SshLogin login = existing.login(input.file()::resolve);
    List<Step> steps = new ArrayList<>(GuestSteps.access(input, servers, guest));
    Payload payload = new GuestBundles(input, servers, guest).payload();
    steps.add(new InstallOnMachine(name, facts.owner(), login, payload, guest.ready().timeout()));
    if (guest.ready().verify()) {
      steps.add(new VerifyOnMachine(name, login, server(servers), guest.ready().timeout()));
    }
    return steps;
  }

  private List<Step> domainSteps(ServerSteps servers) {
    String name = guest.name().text();
    DomainFacts domain = facts.domain().orElseThrow();
    DomainTarget target =
        new DomainTarget(
            input.snapshot().libvirt().uri(),
            existing.domain().orElseThrow().text(),
            domain.uuid().toString(),
            Optional.empty());
    // Another login changes nothing of what is attached.
    DomainTarget reached = target.by(domain.ssh());
    boolean client = guest.hasVgpu();
    List<Step> steps = new ArrayList<>();
    steps.add(new FindDomain(name, target, client));
    if (client) {
      steps.addAll(GuestSteps.access(input, servers, guest));
      for (GuestChannels channels : GuestChannels.of(input, guest)) {
        steps.addAll(channels.steps());
        if (channels.sharesMemory()) {
          steps.add(
              new AttachToDomain(
                  name, target, channels.regionName(), Optional.of(channels.region())));
        }
      }
    }
    GuestDevices devices = input.devices().of(guest.name());
    steps.addAll(devices.assign());
    for (String device : devices.devices()) {
      steps.add(new AttachToDomain(name, target, device, Optional.empty()));
    }
    if (client) {
      Payload payload = new GuestBundles(input, servers, guest).payload();
      steps.add(
          new InstallOnDomain(name, facts.owner(), reached, payload, guest.ready().timeout()));
    }
    if (client && guest.ready().verify()) {
      steps.add(new VerifyOnDomain(name, reached, server(servers), guest.ready().timeout()));
    }
    return steps;
  }

  private String server(ServerSteps servers) {
    return guest.vgpus().stream()
        .map(vgpu -> servers.forGuest(guest, vgpu.gpu()).toString())
        .collect(Collectors.joining(" and "));
  }

  private Position at() {
    return input.file().positions().of(existing, existing.domain().isPresent() ? "domain" : "ssh");
  }

  /** Reports devices of the host for which a domain has no slot. */
  void checkSlots(List<String> devices, Problems problems) {
    if (existing.domain().isPresent()) {
      new DomainFit(guest, input.snapshot(), at(), problems).checkSlots(devices);
    }
  }

  void check(Problems problems) {
    Position at = at();
    boolean isDomain = existing.domain().isPresent();
    if (isDomain && !new DomainFit(guest, input.snapshot(), at, problems).check()) {
      return;
    }
    boolean bySsh = !isDomain || facts.domain().flatMap(DomainFacts::ssh).isPresent();
    if (bySsh && !input.snapshot().bundles().programs().contains("ssh")) {
      problems.add(
          at,
          "there is no ssh on this host, and '" + guest.name() + "' is reached by SSH",
          "apt-get install openssh-client");
      return;
    }
    files(problems);
    if (facts.report().isEmpty()) {
      problems.add(
          at,
          "the machine of '" + guest.name() + "' cannot be used: " + facts.error(),
          facts.next());
      return;
    }
    machine(facts.report().get(), at, problems);
    ServerSteps servers = new ServerSteps(input);
    if (!isDomain
        && facts.listen().isEmpty()
        && guest.vgpus().stream().anyMatch(vgpu -> servers.node(vgpu.gpu()).isEmpty())) {
      String host = existing.ssh().orElseThrow().host().text();
      problems.add(
          at,
          "this host cannot resolve "
              + host
              + ", or has no route to it, so that it does not know at which address the machine"
              + " reaches it",
          "write the machine's address in numbers, or an address of this host in 'server'");
    }
    Problems found = new Problems();
    new GuestBundles(input, servers, guest).check(found);
    found.sorted().forEach(p -> problems.add(p.position(), p.message(), p.hint()));
    GuestChannels.of(input, guest).forEach(channels -> channels.check(problems));
  }

  private void files(Problems problems) {
    if (existing.key().isPresent()) {
      readable(existing.key().get(), input.file().positions().of(existing, "key"), problems);
    }
    Optional<Ssh> login = guest.setup().ssh();
    if (login.flatMap(Ssh::key).isPresent()) {
      readable(login.get().key().get(), input.file().positions().of(login.get(), "key"), problems);
    }
    for (SetupFile given : guest.setup().files()) {
      readable(given.source(), input.file().positions().of(given, "source"), problems);
    }
  }

  private void readable(String named, Position at, Problems problems) {
    Path path = input.file().resolve(named);
    if (input.snapshot().file(path).filter(FileFacts::readable).isEmpty()) {
      problems.add(at, "there is no file " + path + " that could be read");
    }
  }

  private void machine(MachineReport report, Position at, Problems problems) {
    String who = "'" + existing.machine() + "'";
    if (!report.system().equals("Linux")) {
      problems.add(at, who + " runs " + report.system() + ", and the client is for Linux");
      return;
    }
    if (!report.cpu().equals(CPU)) {
      problems.add(
          at, who + " has the CPU architecture " + report.cpu() + ", and the client is for " + CPU);
    }
    if (!report.libc().equals("glibc")) {
      problems.add(
          at,
          who
              + (report.libc().equals("musl")
                  ? " has musl as its C library"
                  : " has no C library of GNU at /lib64/ld-linux-x86-64.so.2")
              + ", and the client needs glibc, as CUDA does",
          "use a distribution with glibc there, or a container of one");
    }
    if (!report.missing().isEmpty()) {
      problems.add(
          at,
          who
              + " lacks programs that the installation needs: "
              + String.join(", ", report.missing()),
          "install them there");
    }
    for (String folder : report.readonly()) {
      problems.add(
          at,
          who + " has a read-only " + folder + ", where the client would be written",
          "mount it writable for the installation; Graft has no other place for the client");
    }
    space(report, who, at, problems);
    String other = report.owner().filter(owner -> !owner.equals(facts.owner())).orElse("");
    if (!other.isEmpty()) {
      problems.add(
          at,
          who + " has the client of another deployment: guest " + other,
          "remove the machine from that deployment, and apply that first; if that deployment is"
              + " gone or has forgotten the machine: graft forget --help says what to do there");
    }
  }

  private void space(MachineReport report, String who, Position at, Problems problems) {
    long needed = COPIES * size() / KIB;
    for (Map.Entry<String, Long> folder : report.free().entrySet()) {
      if (folder.getValue() < needed && !report.owner().equals(Optional.of(facts.owner()))) {
        problems.add(
            at,
            who
                + " has "
                + new MemorySize(folder.getValue() * KIB).rounded()
                + " free at "
                + folder.getKey()
                + ", and the installation needs "
                + new MemorySize(needed * KIB).rounded(),
            "free space there");
        return;
      }
    }
  }

  private long size() {
    long size = 0;
    for (List<TreeFile> tree : input.snapshot().bundles().trees().values()) {
      for (TreeFile one : tree) {
        boolean client = one.stamp().path().startsWith(input.snapshot().bundles().client());
        size += client ? one.stamp().size() : 0;
      }
    }
    for (SetupFile given : guest.setup().files()) {
      Path path = input.file().resolve(given.source());
      size += input.snapshot().file(path).map(f -> f.stamp(path)).map(FileStamp::size).orElse(0L);
    }
    return size;
  }

  /** What is brought, where, and what is there already. */
  List<String> notes() {
    MachineReport report = facts.report().orElseThrow();
    List<String> notes = new ArrayList<>();
    notes.add(
        existing.machine()
            + " gets the client in "
            + Payload.CLIENT_FOLDER
            + ", its settings and its token in /etc/graft, and a line for the loader in"
            + " /etc/ld.so.conf.d; undo gives back what it had");
    boolean ours = report.owner().equals(Optional.of(facts.owner()));
    if (!ours && !report.there().isEmpty()) {
      notes.add(
          existing.machine()
              + " has these files already, which are kept and given back: "
              + String.join(", ", report.there()));
    }
    return notes;
  }

  /** When a domain gets what is attached to it; empty if nothing is, or it is no domain. */
  Optional<String> whenAttached(List<Action> actions) {
    boolean attaches =
        actions.stream()
            .filter(action -> action.kind() == Action.Kind.DO)
            .map(Action::step)
            .anyMatch(
                step ->
                    step instanceof AttachToDomain attach
                        && attach.guest().equals(guest.name().text()));
    return facts
        .domain()
        .filter(domain -> attaches)
        .map(
            domain ->
                existing.machine()
                    + (domain.running()
                        ? " runs, and gets its devices at once"
                        : " is " + domain.state() + ", and has its devices at its next start"));
  }
}
