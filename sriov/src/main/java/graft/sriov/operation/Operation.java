package graft.sriov.operation;

import graft.sriov.PciAddress;
import graft.sriov.vf.HostAccess;

/**
 * One change of a host that can be taken back.
 *
 * <p>Whoever applies it first asks for {@link #before}, writes that down where a crash cannot reach
 * it, and then calls {@link #apply}. {@link Undo#run} takes the change back from what was written
 * down alone: also when {@code apply} has failed or been killed on its way, which may have left any
 * state between the two.
 */
public sealed interface Operation
    permits SetVfCount,
        SetAutoprobe,
        ConfigureVf,
        BindDriver,
        SetResetMethod,
        StoreFile,
        CreateMediatedDevice,
        SetVgpuType {

  /** What it is done to: a PF for what concerns its VFs. */
  PciAddress device();

  /** What it will do, in one line. */
  String describe();

  /** Whether the host is as this would make it. */
  boolean done(HostAccess host);

  /** The present state, as far as taking this back needs it. */
  Before before(HostAccess host);

  /**
   * Does it, within the host's time limits; nothing when it is done already.
   *
   * @throws graft.sriov.HostException with what was tried, on what and what to do next
   */
  void apply(HostAccess host);
}
