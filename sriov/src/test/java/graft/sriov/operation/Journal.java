package graft.sriov.operation;

import graft.sriov.vf.HostAccess;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Applies and undoes as the interfaces ask their callers to. */
public final class Journal {
  /** A change that was begun, with how the host was before it. */
  private record Written(DeviceChange change, Map<String, Object> before) {}

  private final HostAccess host;
  private final List<Written> written = new ArrayList<>();

  public Journal(HostAccess host) {
    this.host = host;
  }

  /** Writes down what was there, then does it; throws what a change throws. */
  public void apply(List<DeviceChange> changes) {
    for (DeviceChange change : changes) {
      written.add(new Written(change, change.before(host)));
      change.apply(host);
    }
  }

  /** Takes everything back that was begun, last first; can be called again when it throws. */
  public void undo() {
    for (int i = written.size() - 1; i >= 0; i--) {
      written.get(i).change().undo(host, written.get(i).before());
    }
    written.clear();
  }

  public List<Written> written() {
    return written;
  }
}
