package graft.deployment.plan;

import graft.common.bind.Position;
import graft.common.bind.Problems;
import graft.deployment.step.Step;
import graft.guests.payload.Payload;
import java.util.List;

/** How a payload is installed in a guest: by steps before the guest starts, or after. */
interface InstallMethod {
  /** Reports what this method cannot install, or what this host lacks for it. */
  default void check(Payload payload, Position at, Problems problems) {}

  /** Steps after the guest's disks are there and before it is defined. */
  default List<Step> beforeStart(Payload payload) {
    return List.of();
  }

  /** Steps once the guest answers. */
  default List<Step> whenReady(Payload payload) {
    return List.of();
  }
}
