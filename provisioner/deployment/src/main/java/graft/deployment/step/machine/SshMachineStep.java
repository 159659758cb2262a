package graft.deployment.step.machine;

import graft.guests.connection.GuestConnection;
import graft.guests.connection.SshConnection;
import graft.guests.connection.SshLogin;
import graft.hypervisors.libvirt.LibvirtHost;
import java.util.function.Function;

/** A step on a machine that Graft did not make and that is reached by SSH. */
interface SshMachineStep extends MachineStep {
  /** The login, with an address. */
  SshLogin ssh();

  @Override
  default GuestConnection connection(Function<String, LibvirtHost> libvirt) {
    return SshConnection.toKnown(ssh());
  }

  /** For display: {@code root@192.0.2.7}, with the port if it is not SSH's own. */
  @Override
  default String machine() {
    String port = ssh().port() == 22 ? "" : ":" + ssh().port();
    return ssh().user() + "@" + ssh().address().orElseThrow() + port;
  }
}
