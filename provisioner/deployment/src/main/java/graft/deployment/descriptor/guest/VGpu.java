package graft.deployment.descriptor.guest;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.bind.Range;
import graft.common.bind.Shorthand;
import graft.common.values.MemorySize;
import graft.common.values.Name;
import java.util.List;
import java.util.Optional;

/** What a guest sees of a GPU that it does not own. */
@Shorthand("gpu")
@Doc("What a guest sees of a GPU that it does not own.")
public record VGpu(
    @Doc("The GPU's name in this descriptor.") Name gpu,
    @Doc("The limit of GPU memory for all sessions of the guest together.")
        Optional<MemorySize> memory,
    @Range(min = 1, max = 4096)
        @Doc(
            "The most sessions (processes that use the GPU) of the guest at one time; the server's"
                + " guest-sessions if absent.")
        Optional<Integer> sessions,
    @Range(min = 1, max = 100) @Doc("The guest's share of the GPU's compute, in percent.")
        Optional<Integer> compute,
    @Default("auto")
        @Doc(
            "The channel to the server. auto uses the fastest that works, by the measurements of"
                + " verify --channels, and falls back to the next.")
        Channel channel,
    @Default("128MiB")
        @Doc(
            "The size of the memory that the guest shares with the server for ivshmem: a power of"
                + " two, allocated in /dev/shm of the host. Each process uses 9 MiB and what it"
                + " pins.")
        MemorySize region,
    @Doc(
            "The channels that may send unencrypted data over a network. rdma never encrypts bulk"
                + " data and is used only if it is named here: its network must be isolated, or"
                + " protected by IPsec. With tcp, nothing that leaves the guest is encrypted.")
        List<Channel> unencrypted,
    @Default("false") @Doc("Whether the guest has the GPU to itself.") boolean exclusive) {}
