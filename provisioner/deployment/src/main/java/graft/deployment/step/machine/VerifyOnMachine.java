package graft.deployment.step.machine;

import graft.common.values.TimeSpan;
import graft.guests.connection.SshLogin;

/** Runs a CUDA program on a machine that Graft did not make, by SSH. */
public record VerifyOnMachine(String guest, SshLogin ssh, String server, TimeSpan timeout)
    implements MachineCheck, SshMachineStep {}
