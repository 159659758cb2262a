package graft.deployment.apply;

import graft.common.GraftException;
import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.sriov.HostException;

/** Messages for exceptions. */
final class Errors {
  private Errors() {}

  static String said(Throwable e) {
    boolean ours =
        e instanceof GraftException
            || e instanceof HypervisorException
            || e instanceof HostException;
    return ours ? e.getMessage() : e.toString();
  }
}
