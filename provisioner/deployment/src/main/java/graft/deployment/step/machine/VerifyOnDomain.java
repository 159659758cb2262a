package graft.deployment.step.machine;

import graft.common.values.TimeSpan;

/** Runs a CUDA program in a domain that somebody else made. */
public record VerifyOnDomain(String guest, DomainTarget target, String server, TimeSpan timeout)
    implements MachineCheck, DomainStep {}
