package graft.deployment.descriptor.gpu;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.values.MemorySize;
import graft.common.values.Name;
import java.util.Optional;

/** A GPU and who owns it. */
@Doc("A GPU and who owns it.")
public record Gpu(
    @Doc("Its name in this descriptor.") Name name,
    @Default("host") @Doc("Who owns it: host, guest:NAME (by passthrough) or node:NAME.")
        Owner owner,
    @Default("software")
        @Doc(
            "The device: software (no GPU), gpu or gpu:N (CUDA's numbering), a PCI address, or MIG-UUID.")
        GpuDevice device,
    @Doc("The memory size of the software device.") Optional<MemorySize> memory,
    @Doc(
            "Its chip, such as H100, for guests with gpu: any. If absent, what the driver of this"
                + " host says; a node is not asked.")
        Optional<String> chip,
    @Default("{}") @Doc("The server beside the GPU.") Server server,
    @Doc("With hosts, the name of the host that it is on; none for a node's.")
        Optional<Name> host) {
  /** A copy with another owner and server. */
  public Gpu with(Owner other, Server beside) {
    return new Gpu(name, other, device, memory, chip, beside, host);
  }
}
