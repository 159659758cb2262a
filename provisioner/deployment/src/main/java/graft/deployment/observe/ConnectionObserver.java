package graft.deployment.observe;

import graft.common.values.Name;
import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.Setup;
import graft.deployment.descriptor.guest.Ssh;
import graft.guests.connection.AgentConnection;
import graft.guests.connection.GuestConnectionException;
import graft.guests.connection.HostAddress;
import graft.guests.connection.SshConnection;
import graft.hypervisors.libvirt.calls.HypervisorException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Finds which guest connections answer in running guests whose install method is {@code auto}. */
final class ConnectionObserver {
  private static final Duration LIMIT = Duration.ofSeconds(2);
  private static final int AT_A_TIME = 16;

  private final Connections connections;
  private final LibvirtFacts libvirt;

  ConnectionObserver(Connections connections, LibvirtFacts libvirt) {
    this.connections = connections;
    this.libvirt = libvirt;
  }

  /** Asks the running guests that boot an image. */
  Map<Name, ConnectionFacts> observe(Descriptor descriptor) {
    List<Guest> running =
        descriptor.guests().stream()
            .filter(guest -> guest.setup().way() == Setup.Method.AUTO && guest.image().isPresent())
            .filter(guest -> isRunning(descriptor, guest))
            .toList();
    if (running.isEmpty()) {
      return Map.of();
    }
    ExecutorService pool = Executors.newFixedThreadPool(Math.min(AT_A_TIME, running.size()));
    try {
      List<Callable<ConnectionFacts>> questions = new ArrayList<>();
      running.forEach(guest -> questions.add(() -> ask(guest)));
      List<Future<ConnectionFacts>> answers = pool.invokeAll(questions);
      Map<Name, ConnectionFacts> facts = new LinkedHashMap<>();
      for (int i = 0; i < running.size(); i++) {
        facts.put(running.get(i).name(), answers.get(i).get());
      }
      return facts;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Map.of();
    } catch (ExecutionException e) {
      throw new IllegalStateException("asking the guests", e.getCause());
    } finally {
      pool.shutdownNow();
    }
  }

  private boolean isRunning(Descriptor descriptor, Guest guest) {
    return libvirt
        .guest(guest.name().text())
        .filter(found -> found.deployment().equals(descriptor.deploymentName().text()))
        .map(GuestFacts::running)
        .orElse(false);
  }

  private ConnectionFacts ask(Guest guest) {
    try {
      Optional<graft.hypervisors.libvirt.Guest> domain =
          connections.get(libvirt.uri()).guest(guest.name().text());
      boolean agent = domain.map(d -> new AgentConnection(d).answers(LIMIT)).orElse(false);
      boolean ssh =
          domain.isPresent()
              && guest.setup().ssh().map(login -> listens(domain.get(), login)).orElse(false);
      return new ConnectionFacts(agent, ssh);
    } catch (HypervisorException | GuestConnectionException e) {
      return new ConnectionFacts(
          false, false); // the guest ended meanwhile, or its answer is invalid
    }
  }

  private static boolean listens(graft.hypervisors.libvirt.Guest domain, Ssh login) {
    Optional<HostAddress> address = SshConnection.address(domain, login.address());
    try (Socket socket = new Socket()) {
      if (address.isPresent()) {
        socket.connect(
            new InetSocketAddress(address.get().text(), login.port()), (int) LIMIT.toMillis());
      }
      return address.isPresent();
    } catch (IOException e) {
      return false;
    }
  }
}
