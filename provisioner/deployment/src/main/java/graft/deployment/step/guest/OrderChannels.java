package graft.deployment.step.guest;

import graft.common.GraftException;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.guests.connection.Ended;
import graft.guests.connection.Reach;
import graft.guests.connection.Reaches;
import graft.guests.connection.SshLogin;
import graft.guests.payload.Payload;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.calls.HypervisorException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Lets a guest's client try its channels in another order than the one that the guest was set up
 * with: a line of the client's configuration in the running guest, so that what was measured makes
 * no guest start anew. Programs that run stay on their channel.
 *
 * @param ssh how to reach the guest; by its agent if absent
 * @param order the channels' addresses
 * @param usual the order that the guest was set up with
 * @param measured what the order follows, by its time; empty if it follows nothing
 */
public record OrderChannels(
    String uri,
    String guest,
    String uuid,
    Optional<SshLogin> ssh,
    List<String> order,
    List<String> usual,
    String measured)
    implements GuestStep {
  private static final String NAME = "channels";
  private static final Duration SHORT = Duration.ofSeconds(60);
  private static final Duration PING = Duration.ofSeconds(5);

  /** Whole or not at all: a program may start at any moment. The mode and the group stay. */
  private static final String SCRIPT =
      "grep -q '^server = ' \"$1\" && cp -p \"$1\" \"$1.graft-new\""
          + " && sed \"s|^server = .*|server = $2|\" \"$1\" >\"$1.graft-new\""
          + " && mv -f \"$1.graft-new\" \"$1\"";

  /** The step's identity for a guest. */
  public static String id(String guest) {
    return "guest/" + guest + "/" + NAME;
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
    return true; // it is in the guest, and the next measurement tells
  }

  @Override
  public Map<String, Object> apply(StepContext context) {
    bring(Reaches.of(Domains.get(context.libvirt(uri), guest, uuid), ssh), order);
    return Map.of();
  }

  void bring(Reach reach, List<String> addresses) {
    Ended ended =
        reach.run(
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

  /** What stands before it sets the guest up anew, with the usual order. */
  @Override
  public boolean leavesSomething() {
    return false;
  }

  /**
   * A guest that is off or cannot be told keeps the order, which does no harm: nothing else of it
   * must stay for that.
   */
  @Override
  public void undo(StepContext context, Map<String, Object> before) {
    Optional<Guest> domain = Domains.find(context.libvirt(uri), guest, uuid);
    if (order.equals(usual) || domain.isEmpty() || !domain.get().state().isActive()) {
      return;
    }
    try {
      Reach reach = Reaches.of(domain.get(), ssh);
      if (reach.answers(PING)) {
        bring(reach, usual);
        context.progress(this, "its client tries " + String.join(", ", usual) + " again");
      } else {
        context.progress(this, "it does not answer, and its client keeps its order of channels");
      }
    } catch (GraftException | HypervisorException e) {
      context.progress(this, "its client keeps its order of channels: " + e.getMessage());
    }
  }
}
