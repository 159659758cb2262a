package graft.deployment.descriptor.gpu;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.values.MemorySize;
import graft.common.values.Name;
import java.util.Optional;

/** A GPU and who owns it. */
@Doc("A GPU and who owns it.")
public record Gpu(
    @Doc("What guests call it in this descriptor.") Name name,
    @Default("host") @Doc("Who owns it: host, guest:NAME (by passthrough) or node:NAME.")
        Owner owner,
    @Default("software")
        @Doc(
            "What it is: software (no GPU), gpu or gpu:N (as CUDA counts), a PCI address, or MIG-UUID.")
        GpuDevice device,
    @Doc("How much memory the software device has.") Optional<MemorySize> memory,
    @Default("{}") @Doc("The server beside the GPU.") Server server) {}
