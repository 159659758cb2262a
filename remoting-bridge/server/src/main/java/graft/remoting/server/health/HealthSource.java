package graft.remoting.server.health;

import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

/** Where the health of GPUs is read: {@link Nvml}, or a model in tests. */
interface HealthSource {
  /**
   * A GPU of this machine.
   *
   * @param index its index in the order of PCI addresses
   * @param uuid its name: GPU-, and 36 characters
   */
  record Gpu(int index, String uuid) {}

  /**
   * What a GPU shows now.
   *
   * @param isLost whether the driver has lost the GPU: it has fallen off the bus, or needs a reset
   * @param correctedErrors the memory errors that ECC has corrected since the driver was loaded;
   *     empty if the GPU does not count them
   * @param uncorrectedErrors those that it could not correct
   * @param slowed why the GPU's clocks are lower than they could be
   */
  record Reading(
      boolean isLost,
      OptionalLong correctedErrors,
      OptionalLong uncorrectedErrors,
      Set<Slowdown> slowed) {
    static final Reading LOST =
        new Reading(true, OptionalLong.empty(), OptionalLong.empty(), Set.of());
  }

  /**
   * An Xid error, which the driver reports when something goes wrong on a GPU.
   *
   * @param uuid the GPU
   * @param number the error's number, listed by NVIDIA in "XID Errors"
   */
  record XidEvent(String uuid, long number) {}

  /** The GPUs that are watched, in the order of their indices; none if there is no driver. */
  List<Gpu> gpus();

  /** The version of the loaded driver; empty if there is none. */
  String driver();

  /** Reads what a GPU shows. */
  Reading read(Gpu gpu);

  /**
   * Waits for Xid errors.
   *
   * @return those that have happened; none if there were none within about a second
   */
  List<XidEvent> awaitXids() throws InterruptedException;

  /** Lets go of the GPUs. Nothing is asked afterwards. */
  void close();
}
