package graft.deployment.step;

import graft.hypervisors.libvirt.LibvirtHost;
import graft.sriov.vf.HostAccess;
import java.util.Map;

/** What steps share while they are applied or undone. */
public interface StepContext {
  /** The connection to a libvirt daemon, opened on first use. */
  LibvirtHost libvirt(String uri);

  /** The host's devices. */
  HostAccess host();

  /** Whether another step failed, so that this one should give up. */
  boolean isStopping();

  /** Sets {@link #isStopping}. */
  void stop(boolean now);

  /** Reports the progress of a long step, in a few words. */
  void progress(Step step, String text);

  /** The result of an earlier step, by its id; empty if it has not been done. */
  Map<String, Object> resultOf(String stepId);

  /** The values from before a step first began, by its id. */
  Map<String, Object> beforeOf(String stepId);
}
