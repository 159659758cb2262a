package graft.deployment.step.guest;

import graft.deployment.observe.Snapshot;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import java.util.Map;

/**
 * Notes in the journal which GPU was chosen for a vGPU, so that the guest stays there. Everything
 * that the choice changes is done by other steps.
 *
 * @param number of the vGPU among those of the guest that say any, from 0
 * @param gpu the GPU's name in the descriptor
 */
public record ChooseGpu(String guest, int number, String gpu) implements GuestStep {
  private static final String NAME = "gpu-";

  /** The step's identity for a vGPU of a guest. */
  public static String id(String guest, int number) {
    return "guest/" + guest + "/" + NAME + number;
  }

  @Override
  public String name() {
    return NAME + number;
  }

  @Override
  public String describe() {
    return "choose '" + gpu + "' for its vGPU" + (number == 0 ? "" : " " + (number + 1));
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return true; // the journal is all that keeps it
  }

  @Override
  public boolean isInPlace() {
    return true;
  }

  /** The steps after it name the GPU themselves where they depend on it. */
  @Override
  public boolean isPluggable() {
    return true;
  }

  @Override
  public Map<String, Object> apply(StepContext context) {
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) {
    // The journal forgets it.
  }
}
