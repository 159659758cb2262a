package graft.deployment.step.device;

import graft.deployment.step.Await;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.hypervisors.libvirt.DeviceScope;
import graft.hypervisors.libvirt.Guest;
import java.time.Duration;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.w3c.dom.Element;

/** Takes a device from a running guest, whose system releases the device when it likes to. */
public final class HotUnplug {
  private static final Await GONE = new Await(Duration.ofSeconds(30), Duration.ofMillis(100));

  private HotUnplug() {}

  /**
   * Asks the guest for the device, and waits until the guest has released it.
   *
   * @param isThere whether the running guest still has the device
   * @param kept what has failed if the guest keeps the device
   */
  public static void run(
      Guest guest,
      Element device,
      BooleanSupplier isThere,
      StepContext context,
      Step step,
      Supplier<StepFailure> kept)
      throws InterruptedException {
    guest.detach(device, Set.of(DeviceScope.LIVE));
    Await.Outcome outcome =
        GONE.until(
            () -> isThere.getAsBoolean() ? Await.Answer.NOT_YET : Await.Answer.YES,
            seconds ->
                context.progress(step, "waiting for the guest to release it, " + seconds + " s"),
            () -> false);
    if (outcome != Await.Outcome.READY) {
      throw kept.get();
    }
  }
}
