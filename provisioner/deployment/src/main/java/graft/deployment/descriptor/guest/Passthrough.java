package graft.deployment.descriptor.guest;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.values.Name;
import graft.common.values.PciAddress;
import java.util.Optional;

/** A device of the host that is passed through to a guest: exactly one of gpu, pci, mig, mdev. */
@Doc("A device of the host that is passed through to a guest: exactly one of gpu, pci, mig, mdev.")
public record Passthrough(
    @Doc("A GPU of this descriptor that this guest owns.") Optional<Name> gpu,
    @Doc("Any PCI device, by its address.") Optional<PciAddress> pci,
    @Doc("A MIG instance, by its UUID as nvidia-smi -L prints it.") Optional<String> mig,
    @Doc("A mediated device (NVIDIA vGPU), by its UUID.") Optional<String> mdev,
    @Doc("The GPU on which the mediated device is created, if Graft is to create it.")
        Optional<PciAddress> of,
    @Doc(
            "The type of NVIDIA vGPU: a name such as nvidia-474 for a mediated device to be created; a"
                + " number for the virtual function of a GPU that 'pci' names.")
        Optional<String> type,
    @Default("false")
        @Doc(
            "On Xen: whether the guest may write all of the device's configuration space. Only for"
                + " trusted guests.")
        boolean permissive) {}
