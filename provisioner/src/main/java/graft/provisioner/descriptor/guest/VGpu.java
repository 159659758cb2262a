package graft.provisioner.descriptor.guest;

import graft.provisioner.bind.Default;
import graft.provisioner.bind.Doc;
import graft.provisioner.bind.Range;
import graft.provisioner.bind.Shorthand;
import graft.provisioner.values.MemorySize;
import graft.provisioner.values.Name;
import java.util.Optional;

/** What a guest sees of a GPU that it does not own. */
@Shorthand("gpu")
@Doc("What a guest sees of a GPU that it does not own.")
public record VGpu(
    @Doc("The GPU's name in this descriptor.") Name gpu,
    @Doc("The most GPU memory that the guest gets.") Optional<MemorySize> memory,
    @Range(min = 1, max = 100) @Doc("The share of the GPU's compute that it gets, in percent.")
        Optional<Integer> compute,
    @Default("auto")
        @Doc(
            "What carries its calls and data: auto takes the fastest that works, as verify --channels"
                + " measured, and can fall back.")
        Channel channel,
    @Default("128MiB")
        @Doc(
            "The memory that the guest shares with the server for ivshmem: taken from the host's"
                + " /dev/shm, a power of two. A process takes 9 MiB and what it pins.")
        MemorySize region,
    @Default("false") @Doc("Whether nobody else may use the GPU meanwhile.") boolean exclusive) {}
