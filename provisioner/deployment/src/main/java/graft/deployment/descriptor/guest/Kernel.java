package graft.deployment.descriptor.guest;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import java.util.Optional;

/** A kernel that the hypervisor boots directly. */
@Doc("A kernel that the hypervisor boots directly.")
public record Kernel(
    @Doc("The kernel's file.") String image,
    @Doc("The initramfs's file; the guest gets a copy with the client added.")
        Optional<String> initramfs,
    @Default("console=ttyS0") @Doc("The kernel's command line.") String arguments) {}
