package graft.deployment.placement;

import graft.common.values.MemorySize;
import graft.common.values.Name;
import graft.deployment.descriptor.guest.Channel;
import graft.deployment.descriptor.guest.Existing;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.VGpu;
import graft.deployment.journal.JournalState;
import graft.deployment.step.guest.MakeRegion;
import java.util.Optional;

/**
 * The size of the memory that a guest shares with a server. The host provides all of it when the
 * guest is made, so that the size follows the guest's own: a program pins a part of what it has.
 *
 * @param named what the descriptor says
 * @param made what the guest has; another size would start the guest again
 * @param usual what a new guest gets if the descriptor says nothing
 */
public record RegionSize(Optional<MemorySize> named, Optional<MemorySize> made, MemorySize usual) {
  private static final MemorySize LEAST = MemorySize.ofMib(128);
  private static final MemorySize MOST = MemorySize.ofGib(1);

  /** A region is at most this part of the guest's memory, and of what the host has free. */
  private static final int PART = 4;

  /**
   * Chooses the size.
   *
   * @param memory the guest's own memory
   * @param free what the host has left for the region, in bytes
   */
  public static RegionSize of(
      Optional<MemorySize> named, Optional<MemorySize> made, MemorySize memory, long free) {
    return new RegionSize(named, made, usual(memory.bytes(), free));
  }

  /**
   * Chooses the size of the region of one of a guest's vGPUs.
   *
   * @param free what the host has left for the region, in bytes
   */
  public static RegionSize of(Guest guest, VGpu vgpu, JournalState journal, long free) {
    String id = MakeRegion.id(guest.name().text(), guest.further(vgpu.gpu()).map(Name::text));
    return of(
        vgpu.region(),
        journal.step(id, MakeRegion.class).map(MakeRegion::size),
        guest.memory(),
        free);
  }

  /** How much the host still has to provide for a vGPU, which may have no region, in bytes. */
  public static long toBeMade(Guest guest, VGpu vgpu, JournalState journal, long free) {
    boolean never =
        guest.existing().flatMap(Existing::ssh).isPresent()
            || (vgpu.channel() != Channel.AUTO && vgpu.channel() != Channel.IVSHMEM);
    return never ? 0 : of(guest, vgpu, journal, free).toBeMade();
  }

  private static MemorySize usual(long memory, long free) {
    long most = Math.min(MOST.bytes(), Math.min(memory, Math.max(0, free)) / PART);
    return new MemorySize(Math.max(LEAST.bytes(), Long.highestOneBit(most)));
  }

  /** The size that the guest gets, or keeps. */
  public MemorySize size() {
    return named.or(() -> made).orElse(usual);
  }

  /** How much the host still has to provide, in bytes. */
  public long toBeMade() {
    return made.isPresent() ? 0 : size().bytes();
  }

  /** What a guest is told that has less than a new one would get, because it is older. */
  public Optional<String> advice(Name guest) {
    return named.isEmpty() && made.filter(size -> size.compareTo(usual) < 0).isPresent()
        ? Optional.of(
            "the guest '"
                + guest
                + "' keeps its region of "
                + size()
                + "; a new guest gets "
                + usual
                + ". To change it, which starts the guest again: region: "
                + usual
                + " in its vgpu")
        : Optional.empty();
  }
}
