package graft.deployment.descriptor.fabric;

import graft.common.bind.Doc;
import graft.common.bind.Range;
import graft.common.values.MacAddress;
import graft.sriov.Guid;
import java.util.Optional;

/** Settings of one virtual function. */
@Doc("Settings of one virtual function.")
public record VirtualFunction(
    @Range(min = 0, max = 1023) @Doc("Its number, from 0.") int index,
    @Doc("InfiniBand node GUID.") Optional<Guid> nodeGuid,
    @Doc("InfiniBand port GUID.") Optional<Guid> portGuid,
    @Doc("Whether its port is up.") Optional<VfPolicy> policy,
    @Doc("Ethernet: its MAC address.") Optional<MacAddress> mac,
    @Doc("Ethernet: whether the guest may change its address and use promiscuous mode.")
        Optional<Boolean> trust,
    @Range(min = 1, max = 1_000_000) @Doc("Ethernet: its maximum transmit rate, in Mbit/s.")
        Optional<Integer> maxRate) {}
