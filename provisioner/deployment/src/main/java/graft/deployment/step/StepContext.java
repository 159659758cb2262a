package graft.deployment.step;

import graft.hypervisors.libvirt.LibvirtHost;
import graft.sriov.vf.HostAccess;
import java.util.Map;

/** What steps share while they are applied or undone. */
public interface StepContext {
  /** The connection to a libvirt daemon, opened when it is first asked for. */
  LibvirtHost libvirt(String uri);

  /** The host's devices. */
  HostAccess host();

  /** Whether another step failed, so that this one may give up. */
  boolean isStopping();

  /** Sets {@link #isStopping}. */
  void stop(boolean now);

  /** Says how far a long step is, in a few words. */
  void progress(Step step, String text);

  /** What an earlier step left, by its id; empty if it has not been done. */
  Map<String, Object> resultOf(String stepId);

  /** How the host was before a step was first begun, by its id. */
  Map<String, Object> beforeOf(String stepId);
}
