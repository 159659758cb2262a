package graft.deployment.descriptor.guest;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.bind.Range;
import graft.common.bind.Shorthand;
import graft.common.values.MemorySize;
import graft.common.values.Name;
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
