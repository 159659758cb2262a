package graft.deployment.step.device;

import graft.deployment.observe.DefinitionFacts;
import graft.deployment.observe.GuestFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.Await;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.deployment.step.guest.Domains;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.libvirt.calls.LibvirtError;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Sets how many CPUs a guest with a maximum has, now and at its next start.
 *
 * @param cpus at most the maximum
 * @param most the maximum, with which the guest is defined
 */
public record SetCpus(String uri, String guest, String uuid, int cpus, int most)
    implements GuestStep {
  /** The guest's kernel finds a new CPU some time after the hypervisor has added it. */
  private static final Await ONLINE = new Await(Duration.ofSeconds(10), Duration.ofMillis(200));

  private static final Await RELEASED = new Await(Duration.ofSeconds(60), Duration.ofMillis(100));
  private static final String BEFORE = "cpus";

  @Override
  public String name() {
    return "cpus";
  }

  @Override
  public String describe() {
    return "give it " + cpus + (cpus == 1 ? " CPU" : " CPUs");
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    Optional<GuestFacts> found = own(snapshot);
    return found.isPresent() && now(found).map(Integer.toString(cpus)::equals).orElse(true);
  }

  @Override
  public String whyNotDone(Snapshot snapshot) {
    return now(own(snapshot)).map(count -> "it has " + count).orElse("gone from the host");
  }

  private Optional<GuestFacts> own(Snapshot snapshot) {
    return snapshot.libvirt().guest(guest, uuid);
  }

  private static Optional<String> now(Optional<GuestFacts> found) {
    return found.flatMap(GuestFacts::definition).map(DefinitionFacts::currentCpus);
  }

  /** The definition itself does not say how many of its CPUs the guest has. */
  @Override
  public Snapshot without(Snapshot snapshot) {
    return snapshot.withDefinition(guest, is -> is.withCurrentCpus(Integer.toString(most)));
  }

  @Override
  public boolean isInPlace() {
    return true;
  }

  @Override
  public boolean isPluggable() {
    return true;
  }

  @Override
  public Map<String, Object> before(StepContext context) {
    return Map.of(BEFORE, defined(Domains.get(context.libvirt(uri), guest, uuid)));
  }

  private static int defined(Guest domain) {
    return Integer.parseInt(
        DefinitionFacts.of(domain.definitionXml().getDocumentElement(), Optional.empty())
            .currentCpus());
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws InterruptedException {
    Guest domain = Domains.get(context.libvirt(uri), guest, uuid);
    if (domain.state().isActive() && domain.info().cpus() != cpus) {
      change(domain, context);
      bringOnline(domain, context);
    }
    domain.size().setDefinedCpus(cpus);
    return Map.of();
  }

  /** libvirt waits for five seconds until the guest has released a CPU. A busy one needs longer. */
  private void change(Guest domain, StepContext context) throws InterruptedException {
    try {
      domain.size().setCpus(cpus);
    } catch (HypervisorException e) {
      if (!e.is(LibvirtError.Code.OPERATION_TIMEOUT)) {
        throw e;
      }
      Await.Outcome outcome =
          RELEASED.until(
              () -> domain.info().cpus() == cpus ? Await.Answer.YES : Await.Answer.NOT_YET,
              seconds -> context.progress(this, "waiting for the guest, " + seconds + " s"),
              context::isStopping);
      if (outcome != Await.Outcome.READY) {
        throw new StepFailure(
            "the guest '" + guest + "' has " + domain.info().cpus() + " CPUs, and not " + cpus,
            "does its system release CPUs while it runs? graft restart gives it its number",
            e);
      }
    }
  }

  /**
   * Some systems leave a new CPU offline, and their guest agent can bring it online. A guest
   * without an agent does so by itself, or by its administrator.
   */
  private void bringOnline(Guest domain, StepContext context) throws InterruptedException {
    ONLINE.until(
        () -> isOnline(domain) ? Await.Answer.YES : Await.Answer.NOT_YET,
        seconds -> context.progress(this, "waiting for its system, " + seconds + " s"),
        context::isStopping);
  }

  private boolean isOnline(Guest domain) {
    try {
      domain.size().setOnlineCpus(cpus);
      return true;
    } catch (HypervisorException e) {
      return false;
    }
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) {
    // The running guest gets its former number when the former step is done again.
    if (!(before.get(BEFORE) instanceof Number count)) {
      return;
    }
    Domains.find(context.libvirt(uri), guest, uuid)
        .filter(domain -> defined(domain) != count.intValue())
        .ifPresent(domain -> domain.size().setDefinedCpus(count.intValue()));
  }
}
