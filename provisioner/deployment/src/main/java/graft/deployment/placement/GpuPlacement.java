package graft.deployment.placement;

import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.common.grants.Share;
import graft.common.values.MemorySize;
import graft.common.values.Name;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.VGpu;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.guest.ChooseGpu;
import graft.deployment.step.guest.GrantAccess;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;

/** Puts GPUs in the place of {@code any} in a descriptor. */
public final class GpuPlacement {
  private final DescriptorFile file;
  private final Snapshot snapshot;
  private final JournalState journal;

  /** The demand of each vGPU that says any, in the descriptor's order. */
  private final IdentityHashMap<VGpu, Demand> demands = new IdentityHashMap<>();

  private GpuPlacement(DescriptorFile file, Snapshot snapshot, JournalState journal) {
    this.file = file;
    this.snapshot = snapshot;
    this.journal = journal;
  }

  /**
   * A descriptor in which every vGPU names its GPU.
   *
   * @param choices in the descriptor's order
   */
  public record Placed(DescriptorFile file, List<Choice> choices) {
    /** Copies the list. */
    public Placed {
      choices = List.copyOf(choices);
    }
  }

  /**
   * Chooses the GPUs.
   *
   * @param others the journals of the host's other deployments, by their names
   * @param problems gets the vGPUs that no GPU fits, each with the reason of every GPU
   */
  public static Placed place(
      DescriptorFile file,
      Snapshot snapshot,
      JournalState journal,
      Map<String, JournalState> others,
      Problems problems) {
    return file.descriptor().choosesGpus()
        ? new GpuPlacement(file, snapshot, journal).place(others, problems)
        : new Placed(file, List.of());
  }

  /**
   * The descriptor with the GPUs that were chosen before, for whoever looks at what is there. A
   * vGPU that has none yet still says any.
   */
  public static DescriptorFile recorded(DescriptorFile file, JournalState journal) {
    if (!file.descriptor().choosesGpus()) {
      return file;
    }
    IdentityHashMap<VGpu, Name> recorded = new IdentityHashMap<>();
    for (Guest guest : file.descriptor().guests()) {
      List<VGpu> any = guest.vgpus().stream().filter(VGpu::isAny).toList();
      for (int i = 0; i < any.size(); i++) {
        VGpu vgpu = any.get(i);
        before(journal, guest, i).ifPresent(gpu -> recorded.put(vgpu, new Name(gpu)));
      }
    }
    return replaced(file, vgpu -> Optional.ofNullable(recorded.get(vgpu)));
  }

  private static Optional<String> before(JournalState journal, Guest guest, int number) {
    return journal
        .step(ChooseGpu.id(guest.name().text(), number), ChooseGpu.class)
        .map(ChooseGpu::gpu);
  }

  private static DescriptorFile replaced(
      DescriptorFile file, Function<VGpu, Optional<Name>> chosen) {
    Positions positions = file.positions();
    List<Guest> guests = new ArrayList<>();
    for (Guest guest : file.descriptor().guests()) {
      if (guest.vgpus().stream().noneMatch(VGpu::isAny)) {
        guests.add(guest);
        continue;
      }
      List<VGpu> vgpus = new ArrayList<>();
      for (VGpu vgpu : guest.vgpus()) {
        Optional<VGpu> named = chosen.apply(vgpu).map(vgpu::of);
        named.ifPresent(copy -> positions.same(copy, vgpu));
        vgpus.add(named.orElse(vgpu));
      }
      Guest placed = guest.withVgpus(vgpus);
      positions.same(placed, guest);
      guests.add(placed);
    }
    return new DescriptorFile(file.descriptor().withGuests(guests), file.path(), positions);
  }

  private Placed place(Map<String, JournalState> others, Problems problems) {
    Map<String, List<GpuUse>> uses = new HashMap<>();
    List<Candidate> candidates = new ArrayList<>();
    for (Gpu gpu : file.descriptor().gpus()) {
      candidates.add(Candidates.of(gpu, snapshot));
      uses.put(gpu.name().text(), new ArrayList<>(GpuUse.ofOthers(others, gpu)));
    }
    List<Demand> wanted = new ArrayList<>();
    for (Guest guest : file.descriptor().guests()) {
      int number = 0;
      for (VGpu vgpu : guest.vgpus()) {
        if (vgpu.isAny()) {
          Demand demand = demand(guest, vgpu, number++);
          demands.put(vgpu, demand);
          wanted.add(demand);
        } else {
          uses.get(vgpu.gpu().text()).add(use(guest, vgpu));
        }
      }
    }
    Map<Demand, Choice> made = new HashMap<>();
    new Chooser(candidates, uses).choose(wanted).forEach(c -> made.put(c.demand(), c));
    refuse(made, problems);
    return new Placed(
        replaced(
            file,
            vgpu ->
                Optional.ofNullable(demands.get(vgpu))
                    .map(made::get)
                    .filter(Choice::isMade)
                    .map(choice -> new Name(choice.gpu().name()))),
        wanted.stream().map(made::get).filter(Choice::isMade).toList());
  }

  private void refuse(Map<Demand, Choice> made, Problems problems) {
    for (Guest guest : file.descriptor().guests()) {
      for (VGpu vgpu : guest.vgpus()) {
        if (vgpu.isAny() && !made.get(demands.get(vgpu)).isMade()) {
          String reasons = made.get(demands.get(vgpu)).reasons();
          problems.add(
              file.positions().of(vgpu),
              "no GPU fits the guest '"
                  + guest.name()
                  + "': "
                  + (reasons.isEmpty() ? "the descriptor has none" : reasons),
              "ask for less, or name GPUs for some guests");
        }
      }
    }
  }

  private Demand demand(Guest guest, VGpu vgpu, int number) {
    GpuUse use = use(guest, vgpu);
    Optional<String> before = before(journal, guest, number);
    Optional<GpuUse> had =
        before
            .flatMap(
                gpu -> journal.step("guest/" + guest.name() + "/access-" + gpu, GrantAccess.class))
            .map(grant -> GpuUse.of(grant.guest(), grant.settings()));
    boolean grown =
        had.filter(h -> use.guaranteed() > h.guaranteed() || use.memory() > h.memory()).isPresent();
    boolean limits =
        vgpu.memory().isPresent()
            || vgpu.sessions().isPresent()
            || vgpu.compute().isPresent()
            || vgpu.type().isPresent()
            || vgpu.priority().isPresent();
    return new Demand(
        guest.name().text(),
        number,
        use,
        limits,
        vgpu.chip(),
        vgpu.node().map(Name::text),
        numa(guest),
        before,
        grown);
  }

  private static GpuUse use(Guest guest, VGpu vgpu) {
    int guaranteed = 0;
    try {
      guaranteed =
          vgpu.share()
              .filter(share -> share.type() == Share.Type.GUARANTEED)
              .map(Share::percent)
              .orElse(0);
    } catch (IllegalArgumentException e) {
      // The checks that follow refuse parts that do not agree.
    }
    long memory = vgpu.memory().map(MemorySize::bytes).orElse(0L);
    return new GpuUse(guest.name().text(), guaranteed, memory, vgpu.exclusive(), vgpu.isDense());
  }

  /** The NUMA node of the CPUs that the guest is pinned to. */
  private OptionalInt numa(Guest guest) {
    return guest.placement().pin().stream()
        .findFirst()
        .flatMap(
            cpu ->
                snapshot.devices().nodes().stream()
                    .filter(node -> node.cpus().contains(cpu))
                    .findFirst())
        .map(node -> OptionalInt.of(node.number()))
        .orElse(OptionalInt.empty());
  }
}
