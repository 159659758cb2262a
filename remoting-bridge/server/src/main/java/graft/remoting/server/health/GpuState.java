package graft.remoting.server.health;

import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The health of a GPU.
 *
 * @param index its index in the order of PCI addresses
 * @param uuid its name as NVML has it
 * @param problem why the GPU takes no new sessions; empty if it takes them
 * @param xids how often each Xid error was reported since the server's start
 * @param correctedErrors the memory errors that ECC has corrected since the driver was loaded;
 *     empty if the GPU does not count them
 * @param uncorrectedErrors those that it could not correct
 * @param slowed why the GPU's clocks are lower than they could be
 */
public record GpuState(
    int index,
    String uuid,
    String problem,
    Map<Long, Long> xids,
    OptionalLong correctedErrors,
    OptionalLong uncorrectedErrors,
    Set<Slowdown> slowed) {
  /** Whether the GPU takes new sessions. */
  public boolean isHealthy() {
    return problem.isEmpty();
  }
}
