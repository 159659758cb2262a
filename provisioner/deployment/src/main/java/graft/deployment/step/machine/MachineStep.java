package graft.deployment.step.machine;

import graft.deployment.step.GuestStep;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.SshConnection;
import graft.guests.connection.SshLogin;

/** A step on a machine that Graft did not make. */
public interface MachineStep extends GuestStep {
  /** The login, with an address. */
  SshLogin ssh();

  /** The connection to the machine. */
  default GuestConnection connection() {
    return SshConnection.toKnown(ssh());
  }

  /** For display: {@code root@192.0.2.7}, with the port if it is not SSH's own. */
  default String machine() {
    String port = ssh().port() == 22 ? "" : ":" + ssh().port();
    return ssh().user() + "@" + ssh().address().orElseThrow() + port;
  }
}
