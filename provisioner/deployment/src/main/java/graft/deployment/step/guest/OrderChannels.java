package graft.deployment.step.guest;

import graft.common.GraftException;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.guests.connection.Ended;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.GuestConnections;
import graft.guests.connection.SshLogin;
import graft.guests.payload.Payload;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.calls.HypervisorException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Changes the order in which a guest's client tries its channels: a line of the client's
 * configuration in the running guest, so that a measurement needs no restart of the guest. Running
 * programs stay on their channel.
 *
 * @param ssh the SSH login; if absent, the agent is used
 * @param order the channels' addresses
 * @param usual the order that the guest was set up with
 * @param measured the time of the measurement that the order follows; empty if there is none
 */
public record OrderChannels(
    String uri,
    String guest,
    String uuid,
    Optional<SshLogin> ssh,
    List<String> order,
    List<String> usual,
    String measured)
    implements Step {
  private static final String NAME = "channels";
  private static final Duration SHORT = Duration.ofSeconds(60);
  private static final Duration PING = Duration.ofSeconds(5);

  /**
   * Replaces the file atomically, because a program may start at any moment. Mode and group stay.
   */
  private static final String SCRIPT =
      "grep -q '^server = ' \"$1\" && cp -p \"$1\" \"$1.graft-new\""
          + " && sed \"s|^server = .*|server = $2|\" \"$1\" >\"$1.graft-new\""
          + " && mv -f \"$1.graft-new\" \"$1\"";

  /** The step's identity for a guest. */
  public static String id(String guest) {
    return "guest/" + guest + "/" + NAME;
  }

  @Override
  public Chain chain() {
    return Chain.guest(guest);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String describe() {
    return "let its client try " + String.join(", ", order) + " in this order";
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return true; // the guest knows; the next measurement shows it
  }

  @Override
  public Map<String, Object> apply(StepContext context) {
    bring(GuestConnections.of(Domains.get(context.libvirt(uri), guest, uuid), ssh), order);
    return Map.of();
  }

  void bring(GuestConnection connection, List<String> addresses) {
    Ended ended =
        connection.run(
            List.of(
                "/bin/sh",
                "-c",
                SCRIPT,
                "sh",
                Payload.CLIENT_CONFIGURATION,
                String.join(", ", addresses)),
            new byte[0],
            SHORT);
    if (!ended.succeeded()) {
      throw new StepFailure(
          "the line 'server = ' of "
              + Payload.CLIENT_CONFIGURATION
              + " in the guest '"
              + guest
              + "' could not be changed: "
              + ended.said(),
          "is the file as Graft wrote it? graft cp brings it back");
    }
  }

  /** The steps before it set the guest up again, with the usual order. */
  @Override
  public boolean leavesSomething() {
    return false;
  }

  /**
   * A guest that is off or does not answer keeps the order, which is harmless: no other step has to
   * stay because of it.
   */
  @Override
  public void undo(StepContext context, Map<String, Object> before) {
    Optional<Guest> domain = Domains.find(context.libvirt(uri), guest, uuid);
    if (order.equals(usual) || domain.isEmpty() || !domain.get().state().isActive()) {
      return;
    }
    try {
      GuestConnection connection = GuestConnections.of(domain.get(), ssh);
      if (connection.answers(PING)) {
        bring(connection, usual);
        context.progress(this, "its client tries " + String.join(", ", usual) + " again");
      } else {
        context.progress(this, "it does not answer, and its client keeps its order of channels");
      }
    } catch (GraftException | HypervisorException e) {
      context.progress(this, "its client keeps its order of channels: " + e.getMessage());
    }
  }
}
