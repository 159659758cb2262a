package graft.deployment.apply;

import graft.deployment.journal.Entry;
import graft.deployment.journal.Journal;
import graft.deployment.observe.Connections;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import graft.hypervisors.libvirt.LibvirtHost;
import graft.sriov.vf.HostAccess;
import java.util.Map;

/** What the steps of one run share. */
public final class LiveContext implements StepContext {
  private final Connections connections;
  private final HostAccess host;
  private final Journal journal;
  private final ApplyListener listener;
  private volatile boolean stopping;

  public LiveContext(Connections connections, Journal journal, ApplyListener listener) {
    this(connections, HostAccess.thisHost(), journal, listener);
  }

  /** With another host than this one, for tests. */
  public LiveContext(
      Connections connections, HostAccess host, Journal journal, ApplyListener listener) {
    this.host = host;
    this.connections = connections;
    this.journal = journal;
    this.listener = listener;
  }

  @Override
  public boolean isStopping() {
    return stopping;
  }

  @Override
  public void stop(boolean now) {
    stopping = now;
  }

  @Override
  public LibvirtHost libvirt(String uri) {
    return connections.get(uri);
  }

  @Override
  public HostAccess host() {
    return host;
  }

  @Override
  public void progress(Step step, String text) {
    listener.progress(step, text);
  }

  @Override
  public Map<String, Object> resultOf(String stepId) {
    return journal.entry(stepId).map(Entry::result).orElse(Map.of());
  }

  @Override
  public Map<String, Object> beforeOf(String stepId) {
    return journal.entry(stepId).map(Entry::before).orElse(Map.of());
  }
}
