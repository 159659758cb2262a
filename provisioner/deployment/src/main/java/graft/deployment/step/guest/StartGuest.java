package graft.deployment.step.guest;

import graft.deployment.observe.GuestFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.Await;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.GuestState;
import graft.hypervisors.libvirt.domain.HostdevSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Starts a guest.
 *
 * @param console the log of its console, which is emptied at each start
 */
public record StartGuest(String uri, String guest, String uuid, Path console) implements GuestStep {
  /** The key of the result that holds when the start began, in ms since 1970. */
  static final String STARTED = "startedAt";

  private static final List<HostdevSpec> NO_DEVICES = List.of();
  private static final Await RETURN = new Await(Duration.ofSeconds(10), Duration.ofMillis(50));
  private static final String PAUSED = GuestState.PAUSED.words();

  @Override
  public String name() {
    return "start";
  }

  @Override
  public String describe() {
    return "start it";
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return own(snapshot).filter(g -> g.running() && !g.state().equals(PAUSED)).isPresent();
  }

  @Override
  public String whyNotDone(Snapshot snapshot) {
    return own(snapshot).map(g -> "it is " + g.state()).orElse("gone from the host");
  }

  private Optional<GuestFacts> own(Snapshot snapshot) {
    return snapshot.libvirt().guest(guest, uuid);
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws Exception {
    Guest domain = Domains.get(context.libvirt(uri), guest, uuid);
    long now = System.currentTimeMillis();
    GuestState state = domain.state();
    if (state == GuestState.PAUSED) {
      domain.resume();
    } else if (!state.isActive()) {
      UnfinishedRestore.refuse(guest, domain.definitionXml().getDocumentElement());
      Files.deleteIfExists(console);
      awaitInterfaces(domain, context);
      domain.start();
    }
    // Nothing keeps the console of one that a killed run has started.
    if (domain.isContainer() && Files.notExists(console)) {
      ContainerConsole.keep(domain, console);
    }
    return Map.of(STARTED, now);
  }

  /** The kernel returns the interfaces of a container some time after the container has ended. */
  private void awaitInterfaces(Guest domain, StepContext context) throws InterruptedException {
    for (HostdevSpec device : domain.isContainer() ? domain.definedHostDevices() : NO_DEVICES) {
      if (device instanceof HostdevSpec.Interface card) {
        String path = "/sys/class/net/" + card.name();
        Await.Outcome outcome =
            RETURN.until(
                () -> context.host().files().exists(path) ? Await.Answer.YES : Await.Answer.NOT_YET,
                seconds ->
                    context.progress(this, "waiting for " + card.name() + ", " + seconds + " s"),
                context::isStopping);
        if (outcome != Await.Outcome.READY) {
          throw new StepFailure(
              "the host has no network interface '" + card.name() + "' that the container gets",
              "graft apply finds it by its PCI address, and binds its driver anew if it is gone");
        }
      }
    }
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    Domains.find(context.libvirt(uri), guest, uuid).ifPresent(Guest::destroy);
    Files.deleteIfExists(console); // which may be in a folder of the hypervisor's
  }
}
