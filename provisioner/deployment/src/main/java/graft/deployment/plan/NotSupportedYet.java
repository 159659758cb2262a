package graft.deployment.plan;

import graft.common.bind.Position;
import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.GpuDevice;
import graft.deployment.descriptor.gpu.Owner;

/**
 * Parts of the descriptor that this version does not support. They are refused with an error,
 * because a deployment that ignored them would seem to have worked.
 */
final class NotSupportedYet {
  /** Serving a GPU by its PCI address is not supported yet. */
  private final Descriptor descriptor;

  private final Positions positions;
  private final Problems problems;

  NotSupportedYet(PlanInput input, Problems problems) {
    this.descriptor = input.descriptor();
    this.positions = input.file().positions();
    this.problems = problems;
  }

  void check() {
    descriptor.gpus().forEach(this::gpu);
  }

  private void gpu(Gpu gpu) {
    if (gpu.device().kind() == GpuDevice.Kind.PCI && gpu.owner().kind() == Owner.Kind.HOST) {
      refuse(positions.of(gpu, "device"), "serving a GPU by its PCI address", "write gpu or gpu:N");
    }
  }

  private void refuse(Position at, String what, String hint) {
    problems.add(at, "not supported yet on this host: " + what, hint);
  }
}
