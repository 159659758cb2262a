package graft.sriov.operation;

import graft.sriov.vf.HostAccess;
import java.util.ArrayList;
import java.util.List;

/** Applies and takes back as the interfaces ask their callers to. */
public final class Journal {
  private final HostAccess host;
  private final List<Before> written = new ArrayList<>();

  public Journal(HostAccess host) {
    this.host = host;
  }

  /** Writes down what was there, then does it; throws what an operation throws. */
  public void apply(List<Operation> operations) {
    for (Operation operation : operations) {
      written.add(operation.before(host));
      operation.apply(host);
    }
  }

  /** Takes everything back that was begun, last first; can be called again when it throws. */
  public void undo() {
    for (int i = written.size() - 1; i >= 0; i--) {
      Undo.run(host, written.get(i));
    }
    written.clear();
  }

  public List<Before> written() {
    return written;
  }
}
