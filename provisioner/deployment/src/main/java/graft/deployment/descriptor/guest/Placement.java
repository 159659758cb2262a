package graft.deployment.descriptor.guest;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.values.MemorySize;
import java.util.List;
import java.util.Optional;

/** Where a guest's CPUs and memory are placed on the host. */
@Doc("Where a guest's CPUs and memory are placed on the host.")
public record Placement(
    @Default("auto")
        @Doc(
            "auto: near its devices if possible; strict: near its devices, or plan fails; off: anywhere.")
        Numa numa,
    @Doc("The host's CPUs that its CPUs are pinned to, one each, in order.") List<Integer> pin,
    @Doc("The size of the huge pages that hold its memory.") Optional<MemorySize> hugePages,
    @Default("false") @Doc("Whether its memory is locked, so that it is never swapped out.")
        boolean locked) {

  /** How strictly a guest is kept near its devices. */
  public enum Numa {
    AUTO,
    STRICT,
    OFF
  }

  /** Whether nothing is asked for. */
  public boolean isDefault() {
    return numa == Numa.AUTO && pin.isEmpty() && hugePages.isEmpty() && !locked;
  }
}
