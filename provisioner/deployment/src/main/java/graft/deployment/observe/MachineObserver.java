package graft.deployment.observe;

import graft.common.GraftException;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.guest.Existing;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.SetupFile;
import graft.deployment.descriptor.guest.Ssh;
import graft.guests.bundle.BundleFile;
import graft.guests.bundle.Bundles;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.GuestConnectionException;
import graft.guests.connection.GuestSetup;
import graft.guests.connection.SshConnection;
import graft.guests.image.ImageStore;
import graft.guests.machine.Machine;
import graft.guests.machine.MachineReport;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Looks at the machines of a descriptor that exist already, all at the same time. */
final class MachineObserver {
  private static final Path MACHINE_ID = Path.of("/etc/machine-id");
  private static final String LIBRARY = "libcuda.so.1";
  private static final int AT_A_TIME = 16;
  private static final int ID_DIGITS = 8;

  private final DescriptorFile file;
  private final InstallFacts installs;
  private final DomainObserver domains;

  MachineObserver(DescriptorFile file, InstallFacts installs, DomainObserver domains) {
    this.file = file;
    this.installs = installs;
    this.domains = domains;
  }

  /** The machines by the names of their guests. */
  Map<String, MachineFacts> observe() {
    List<Guest> guests =
        file.descriptor().guests().stream().filter(g -> g.existing().isPresent()).toList();
    if (guests.isEmpty()) {
      return Map.of();
    }
    ExecutorService pool = Executors.newFixedThreadPool(Math.min(AT_A_TIME, guests.size()));
    try {
      List<Callable<MachineFacts>> questions = new ArrayList<>();
      guests.forEach(guest -> questions.add(() -> look(guest)));
      List<Future<MachineFacts>> answers = pool.invokeAll(questions);
      Map<String, MachineFacts> facts = new LinkedHashMap<>();
      for (int i = 0; i < guests.size(); i++) {
        facts.put(guests.get(i).name().text(), answers.get(i).get());
      }
      return facts;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new GraftException("interrupted while looking at the machines", "try again", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof GraftException ours) {
        throw ours;
      }
      throw new IllegalStateException("looking at the machines", e.getCause());
    } finally {
      pool.shutdownNow();
    }
  }

  private MachineFacts look(Guest guest) {
    Existing existing = guest.existing().orElseThrow();
    if (existing.ssh().isPresent()) {
      String listen = listen(existing, Optional.of(existing.ssh().get().host().text()));
      return ask(
          guest, SshConnection.toKnown(existing.login(file::resolve)), listen, Optional.empty());
    }
    Optional<DomainObserver.Found> found = domains.find(guest);
    Optional<DomainFacts> facts = found.map(DomainObserver.Found::facts);
    String listen =
        listen(existing, found.flatMap(f -> f.address(guest.setup().ssh().flatMap(Ssh::address))));
    return facts.filter(f -> f.running() && f.isReachable()).isPresent() && guest.hasVgpu()
        ? ask(guest, found.get().connection(), listen, facts)
        : new MachineFacts(Optional.empty(), "", "", listen, owner(guest), false, facts);
  }

  private MachineFacts ask(
      Guest guest, GuestConnection connection, String listen, Optional<DomainFacts> domain) {
    String who = guest.existing().orElseThrow().machine();
    try {
      MachineReport report = new Machine(connection, who).probe(paths(guest));
      return new MachineFacts(
          Optional.of(report), "", "", listen, owner(guest), isCurrent(report), domain);
    } catch (GuestConnectionException e) {
      String what = e.getMessage().replace("\n  " + e.next(), "");
      return new MachineFacts(
          Optional.empty(), what, e.next(), listen, owner(guest), false, domain);
    }
  }

  /** Where files would be written. */
  private List<String> paths(Guest guest) {
    List<String> paths = new ArrayList<>();
    Optional.ofNullable(installs.found().get(Bundles.CLIENT))
        .ifPresent(
            found -> found.bundle().files().stream().map(BundleFile::path).forEach(paths::add));
    guest.setup().files().stream().map(SetupFile::path).forEach(paths::add);
    paths.add(GuestSetup.ARCHIVE);
    return paths;
  }

  private boolean isCurrent(MachineReport report) {
    Path ours = installs.client().resolve(LIBRARY);
    return Files.isReadable(ours) && report.client().equals(Optional.of(ImageStore.sha256(ours)));
  }

  /** Names the deployment on the machine; hosts may have deployments of the same name. */
  private String owner(Guest guest) {
    byte[] id;
    try {
      id = Files.readAllBytes(MACHINE_ID);
    } catch (IOException e) {
      id = "".getBytes(StandardCharsets.UTF_8); // a container may have none
    }
    // Hashed, because machine-id(5) asks not to show it to others.
    String host = UUID.nameUUIDFromBytes(id).toString().substring(0, ID_DIGITS);
    return guest.name() + " of " + file.descriptor().deploymentName() + " of host " + host;
  }

  /**
   * An address of this host: the one that the descriptor names, if it is one, or the nearest; empty
   * if this host finds no way to the machine's address.
   */
  private static String listen(Existing existing, Optional<String> machine) {
    try {
      if (existing.server().isPresent()) {
        InetAddress named = InetAddress.getByName(existing.server().get().text());
        if (NetworkInterface.getByInetAddress(named) != null) {
          return named.getHostAddress();
        }
      }
      if (machine.isEmpty()) {
        return "";
      }
      try (DatagramSocket socket = new DatagramSocket()) {
        // Sends nothing: the kernel chooses the route.
        socket.connect(InetAddress.getByName(machine.get()), existing.port());
        return socket.getLocalAddress().getHostAddress();
      }
    } catch (IOException | RuntimeException e) {
      return ""; // ssh may have its own way to the machine: the plan says what is to be done
    }
  }
}
