package graft.deployment.descriptor.fabric;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import java.util.List;

/** The host's InfiniBand and RoCE adapters. */
@Doc("The host's InfiniBand and RoCE adapters.")
public record Fabric(
    @Doc("The adapters that Graft configures.") List<Adapter> adapters,
    @Default("true") @Doc("Whether the deployment is applied again after a reboot.")
        boolean persistent) {}
