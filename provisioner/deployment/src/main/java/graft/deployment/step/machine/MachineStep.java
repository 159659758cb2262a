package graft.deployment.step.machine;

import graft.deployment.step.GuestStep;
import graft.guests.connection.GuestConnection;
import graft.hypervisors.libvirt.LibvirtHost;
import java.util.function.Function;

/** A step on a machine that Graft did not make. */
public interface MachineStep extends GuestStep {
  /**
   * The connection to the machine.
   *
   * @param libvirt opens the connection to a libvirt daemon, for a domain
   */
  GuestConnection connection(Function<String, LibvirtHost> libvirt);

  /** For display: {@code root@192.0.2.7}, or {@code domain web}. */
  String machine();

  /** Whether undoing it changes the machine, which a machine that is gone cannot take. */
  default boolean needsMachine() {
    return true;
  }
}
