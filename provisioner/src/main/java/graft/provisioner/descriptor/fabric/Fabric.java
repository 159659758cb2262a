package graft.provisioner.descriptor.fabric;

import graft.provisioner.bind.Default;
import graft.provisioner.bind.Doc;
import java.util.List;

/** The host's InfiniBand and RoCE adapters. */
@Doc("The host's InfiniBand and RoCE adapters.")
public record Fabric(
    @Doc("The adapters that Graft sets up.") List<Adapter> adapters,
    @Default("true") @Doc("Whether the set-up is applied again after a reboot.")
        boolean persistent) {}
