package graft.provisioner.descriptor;

import graft.provisioner.bind.Doc;
import graft.provisioner.values.Name;
import graft.sriov.PciAddress;
import java.util.Optional;

/** A device of the host that a guest gets for itself: exactly one of the keys. */
@Doc("A device of the host that a guest gets for itself: exactly one of the keys.")
public record Passthrough(
    @Doc("A GPU of this descriptor that this guest owns.") Optional<Name> gpu,
    @Doc("Any PCI device, by its address.") Optional<PciAddress> pci,
    @Doc("A MIG instance, by its UUID as nvidia-smi -L prints it.") Optional<String> mig,
    @Doc("A mediated device (vGPU), by its UUID.") Optional<String> mdev) {}
