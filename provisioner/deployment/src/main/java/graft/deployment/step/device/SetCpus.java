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
import java.util.concurrent.atomic.AtomicReference;

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

  private static final Await PATIENCE = new Await(Duration.ofSeconds(60), Duration.ofMillis(100));
  private static final String BEFORE = "cpus";
  private static final String STOP_FIRST =
      "A guest that is off has none to release: stop it (graft stop), then apply again";

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
    if (domain.state().isActive()) {
      switch (Way.of(domain.info().cpus(), cpus, domain.isEmulated())) {
        case PLUG -> {
          domain.size().setCpus(cpus);
          bringOnline(domain, context);
        }
        case UNPLUG -> unplug(domain, context);
        case ONLINE -> bringOnline(domain, context);
        case OFFLINE -> takeOffline(domain, context);
        case NONE -> {}
      }
    }
    domain.size().setDefinedCpus(cpus);
    return Map.of();
  }

  /** How a running guest gets another number of CPUs. */
  enum Way {
    /** It has them. */
    NONE,

    /** The hypervisor adds CPUs. */
    PLUG,

    /** The hypervisor removes CPUs once the guest's system has released them. */
    UNPLUG,

    /** All CPUs are plugged in, and the guest's agent brings those online that it took offline. */
    ONLINE,

    /** The CPUs stay plugged in, and the guest's agent takes them offline. */
    OFFLINE;

    /**
     * Chooses. The emulator removes a CPU that the guest has released, but does not report it to
     * libvirt (QEMU 7.2 sends DEVICE_DELETED for the CPU's interrupt controller only). libvirt then
     * waits in vain, counts the CPU for ever, and can neither remove nor add it again. So CPUs of
     * emulated guests are not unplugged.
     *
     * @param has how many CPUs are plugged in
     * @param wanted how many the guest is to have
     */
    static Way of(int has, int wanted, boolean emulated) {
      if (has < wanted) {
        return PLUG;
      }
      if (emulated) {
        return has == wanted ? ONLINE : OFFLINE;
      }
      return has == wanted ? NONE : UNPLUG;
    }
  }

  /** libvirt waits for five seconds until the guest has released a CPU. A busy one needs longer. */
  private void unplug(Guest domain, StepContext context) throws InterruptedException {
    try {
      domain.size().setCpus(cpus);
    } catch (HypervisorException e) {
      if (!e.is(LibvirtError.Code.OPERATION_TIMEOUT)) {
        throw e;
      }
      Await.Outcome outcome =
          PATIENCE.until(
              () -> domain.info().cpus() == cpus ? Await.Answer.YES : Await.Answer.NOT_YET,
              seconds -> context.progress(this, "waiting for the guest, " + seconds + " s"),
              context::isStopping);
      if (outcome != Await.Outcome.READY) {
        throw new StepFailure(
            "the guest '" + guest + "' has " + domain.info().cpus() + " CPUs, and not " + cpus,
            "does its system release CPUs while it runs? " + STOP_FIRST,
            e);
      }
    }
  }

  /** A guest without an agent brings a new CPU online by itself, or by its administrator. */
  private void bringOnline(Guest domain, StepContext context) throws InterruptedException {
    Optional<HypervisorException> refused = setOnline(domain, context, ONLINE);
    // libvirt's code for an agent that counts fewer CPUs. Without an agent it has others.
    if (refused.isPresent() && refused.get().is(LibvirtError.Code.INTERNAL_ERROR)) {
      refused = setOnline(domain, context, PATIENCE);
      if (refused.isPresent()) {
        throw new StepFailure(
            "the system of the guest '" + guest + "' did not find its new CPUs",
            "some systems find none while they run, such as Debian 13's Linux 6.12 in an emulated"
                + " guest. A guest finds them when it starts: stop it (graft stop), then apply again",
            refused.get());
      }
    }
  }

  private void takeOffline(Guest domain, StepContext context) throws InterruptedException {
    Optional<HypervisorException> refused = setOnline(domain, context, ONLINE);
    if (refused.isPresent()) {
      throw new StepFailure(
          "the agent of the emulated guest '" + guest + "' did not take CPUs offline",
          "does qemu-guest-agent run in it? " + STOP_FIRST,
          refused.get());
    }
  }

  /**
   * Has the guest's agent set how many CPUs are online. Some systems leave a new CPU offline.
   *
   * @return the last error if the agent did not
   */
  private Optional<HypervisorException> setOnline(Guest domain, StepContext context, Await await)
      throws InterruptedException {
    AtomicReference<HypervisorException> last = new AtomicReference<>();
    Await.Outcome outcome =
        await.until(
            () -> {
              try {
                domain.size().setOnlineCpus(cpus);
                return Await.Answer.YES;
              } catch (HypervisorException e) {
                last.set(e);
                return Await.Answer.NOT_YET;
              }
            },
            seconds -> context.progress(this, "waiting for its system, " + seconds + " s"),
            context::isStopping);
    return outcome == Await.Outcome.READY ? Optional.empty() : Optional.of(last.get());
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
