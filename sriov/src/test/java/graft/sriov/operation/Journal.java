package graft.sriov.operation;

import graft.sriov.vf.HostAccess;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Applies and undoes changes as {@link DeviceChange} requires of its callers. */
public final class Journal {
  /** A change that was begun, with the values of the host from before the change. */
  private record Written(DeviceChange change, Map<String, Object> before) {}

  private final HostAccess host;
  private final List<Written> written = new ArrayList<>();

  public Journal(HostAccess host) {
    this.host = host;
  }

  /** Saves the previous values and then makes the changes; throws if a change throws. */
  public void apply(List<DeviceChange> changes) {
    for (DeviceChange change : changes) {
      written.add(new Written(change, change.before(host)));
      change.apply(host);
    }
  }

  /** Undoes all changes that were begun, in reverse order; can be called again if it throws. */
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
