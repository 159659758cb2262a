package graft.deployment.descriptor.guest;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.bind.Key;
import graft.common.bind.Range;
import graft.common.bind.Shorthand;
import graft.common.grants.Share;
import graft.common.values.MemorySize;
import graft.common.values.Name;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What a guest sees of a GPU that it does not own. */
@Shorthand("gpu")
@Doc("What a guest sees of a GPU that it does not own.")
public record VGpu(
    @Doc(
            "The GPU's name in this descriptor; or any, for one that plan chooses of those of this"
                + " host and of nodes.")
        Name gpu,
    @Doc("With gpu: any, the chip that the GPU must be, such as H100: a word of its name.")
        Optional<String> chip,
    @Doc("With gpu: any, where the GPU must be: host, or a node's name.") Optional<Name> node,
    @Doc("The limit of GPU memory for all sessions of the guest together.")
        Optional<MemorySize> memory,
    @Range(min = 1, max = 4096)
        @Doc(
            "The most sessions (processes that use the GPU) of the guest at one time; the server's"
                + " guest-sessions if absent.")
        Optional<Integer> sessions,
    @Key("class")
        @Doc(
            "How the guest competes for the GPU's time: guaranteed gets its share whenever it wants"
                + " it, burstable divides what is left, best-effort runs while nobody else wants"
                + " the GPU. With dense, which all guests of the GPU then need, programs of all"
                + " guests run at the same time by NVIDIA's MPS, without shares, and a fault of one"
                + " ends them all. If absent: guaranteed with compute, else burstable.")
        Optional<Share.Type> type,
    @Range(min = 1, max = 100) @Doc("The guest's share of the GPU's time, in percent.")
        Optional<Integer> compute,
    @Doc("Whether the guest is served first while it has not used up its share.")
        Optional<Share.Priority> priority,
    @Default("auto")
        @Doc(
            "The channel to the server. auto uses the fastest that works, by the measurements of"
                + " verify --channels, and falls back to the next.")
        Channel channel,
    @Doc(
            "The size of the memory that the guest shares with the server for ivshmem: a power of"
                + " two, allocated in /dev/shm of the host, beside the guest's own memory. Each"
                + " process uses 9 MiB and what it pins. If absent: a quarter of the guest's"
                + " memory, from 128MiB to 1GiB, or less where that is more than a quarter of what"
                + " /dev/shm has free; a guest that is there keeps the size that it has. Another"
                + " size starts the guest again.")
        Optional<MemorySize> region,
    @Doc(
            "The channels that may send unencrypted data over a network. rdma never encrypts bulk"
                + " data and is used only if it is named here: its network must be isolated, or"
                + " protected by IPsec. With tcp, nothing that leaves the guest is encrypted.")
        List<Channel> unencrypted,
    @Default("false")
        @Doc(
            "Whether no other guest may use the GPU: of this descriptor, or of this user's"
                + " deployments that are applied already.")
        boolean exclusive,
    @Doc(
            "With a GPU of a node, a file with the guest's own token, mode 0600. If absent, the"
                + " node's.")
        Optional<String> tokenFile) {
  /** Stands for a GPU that plan chooses. */
  public static final Name ANY = new Name("any");

  /** Stands for this host among the nodes. */
  public static final Name HOST = new Name("host");

  /** Whether plan chooses the GPU. */
  public boolean isAny() {
    return ANY.equals(gpu);
  }

  /** A copy with a GPU of that name. */
  public VGpu of(Name chosen) {
    return new VGpu(
        chosen,
        chip,
        node,
        memory,
        sessions,
        type,
        compute,
        priority,
        channel,
        region,
        unencrypted,
        exclusive,
        tokenFile);
  }

  /**
   * What the guest's own host is told of a GPU of another host; the rest is the server's to keep.
   *
   * @param token a file with the guest's token
   */
  public VGpu elsewhere(String token) {
    return new VGpu(
        gpu,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        channel,
        region,
        unencrypted,
        false,
        Optional.of(token));
  }

  /** The limits of its sessions, in the format of the server's tokens file. */
  public List<String> limits() {
    List<String> settings = new ArrayList<>();
    memory.ifPresent(
        m -> settings.addAll(List.of("memory=" + m.bytes(), "guest-memory=" + m.bytes())));
    sessions.ifPresent(n -> settings.add("max-sessions=" + n));
    return settings;
  }

  /** Whether its programs run at the same time as those of other guests, by NVIDIA's MPS. */
  public boolean isDense() {
    return type.filter(chosen -> chosen == Share.Type.DENSE).isPresent();
  }

  /** Whether it asks for a part of the GPU's time that another guest may have already. */
  public boolean claims() {
    return isAny() || exclusive || compute.isPresent() || type.isPresent();
  }

  /**
   * Returns the guest's share of the GPU's time, empty if the descriptor says nothing of it.
   *
   * @throws IllegalArgumentException if the parts do not agree, with the reason
   */
  public Optional<Share> share() {
    if (type.isEmpty() && compute.isEmpty() && priority.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        Share.of(type.orElse(null), compute.orElse(0), priority.orElse(Share.Priority.NORMAL)));
  }
}
