package graft.deployment.step.guest;

import graft.common.values.TimeSpan;
import graft.deployment.step.StepContext;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.GuestConnections;
import graft.guests.connection.GuestSetup;
import graft.guests.payload.Payload;
import graft.hypervisors.libvirt.Guest;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Installs a guest's payload by the guest agent, while the guest runs.
 *
 * @param seeded the file by which the guest shows that cloud-init installed the payload from the
 *     seed
 */
public record InstallByAgent(
    String uri,
    String guest,
    String uuid,
    Payload payload,
    Optional<String> seeded,
    TimeSpan timeout)
    implements Install {
  private static final Duration SHORT = Duration.ofSeconds(60);

  @Override
  public String method() {
    return (uri.startsWith("lxc:") ? "in its namespaces" : "by the guest agent")
        + (seeded.isPresent() ? ", unless cloud-init did" : "");
  }

  /** Waits for a guest that reboots meanwhile, and starts again. */
  @Override
  public Map<String, Object> apply(StepContext context) throws IOException, InterruptedException {
    Guest domain = Domains.get(context.libvirt(uri), guest, uuid);
    GuestConnection connection = GuestConnections.local(domain);
    long start = System.nanoTime();
    if (seeded.isPresent()
        && connection.run(List.of("test", "-e", seeded.get()), new byte[0], SHORT).succeeded()) {
      return Install.result(0, start);
    }
    Attempt attempt = () -> new GuestSetup(connection, guest).bring(payload, timeout.toDuration());
    return Install.result(bring(context, domain, connection, timeout, attempt), start);
  }
}
