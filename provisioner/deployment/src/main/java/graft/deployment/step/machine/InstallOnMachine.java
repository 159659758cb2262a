package graft.deployment.step.machine;

import graft.common.values.TimeSpan;
import graft.guests.connection.SshLogin;
import graft.guests.payload.Payload;

/** Installs a payload on a machine that Graft did not make, by SSH. */
public record InstallOnMachine(
    String guest, String owner, SshLogin ssh, Payload payload, TimeSpan timeout)
    implements MachineInstall, SshMachineStep {

  /** Another address is another machine: the files on the former one are taken back. */
  @Override
  public String name() {
    return "install-" + ssh.address().orElseThrow() + "-" + ssh.port();
  }

  @Override
  public String describe() {
    return "install on " + machine() + " by SSH: " + payload.summary();
  }
}
