package graft.deployment.placement;

import graft.common.values.MemorySize;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.GpuDevice;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.observe.GpuFacts;
import graft.deployment.observe.Snapshot;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** What is known of a descriptor's GPUs, for choosing among them. */
final class Candidates {
  /** The software device's memory, if the descriptor does not say it. */
  private static final MemorySize SOFTWARE_MEMORY = MemorySize.ofMib(1024);

  private Candidates() {}

  static Candidate of(Gpu gpu, Snapshot snapshot) {
    Optional<GpuFacts> seen = seen(gpu, snapshot);
    return new Candidate(
        gpu.name().text(),
        device(gpu),
        Optional.of(gpu.owner())
            .filter(owner -> owner.kind() == Owner.Kind.NODE)
            .map(owner -> owner.name().text()),
        obstacle(gpu, snapshot),
        gpu.chip().or(() -> seen.map(GpuFacts::name)).or(() -> software(gpu)),
        memory(gpu, seen),
        seen.map(GpuFacts::numa).orElse(OptionalInt.empty()));
  }

  private static boolean isHosts(Gpu gpu) {
    return gpu.owner().kind() == Owner.Kind.HOST;
  }

  private static boolean isSoftware(Gpu gpu) {
    return isHosts(gpu) && gpu.device().kind() == GpuDevice.Kind.SOFTWARE;
  }

  private static Optional<GpuFacts> seen(Gpu gpu, Snapshot snapshot) {
    return snapshot.gpus().stream()
        .filter(
            facts ->
                isHosts(gpu)
                    && gpu.device().kind() == GpuDevice.Kind.CUDA
                    && gpu.device().index().getAsInt() == facts.index())
        .findFirst();
  }

  /** Each server has software devices of its own; other devices are those of the machine. */
  private static String device(Gpu gpu) {
    boolean isOwn = !isHosts(gpu) || isSoftware(gpu);
    return gpu.owner() + " " + (isOwn ? gpu.name() : gpu.device());
  }

  private static Optional<String> obstacle(Gpu gpu, Snapshot snapshot) {
    if (gpu.owner().kind() == Owner.Kind.GUEST) {
      return Optional.of("the guest '" + gpu.owner().name() + "' owns it");
    }
    return isHosts(gpu) && !isSoftware(gpu) && snapshot.host().nvidiaDriver().isEmpty()
        ? Optional.of("this host has no NVIDIA driver")
        : Optional.empty();
  }

  private static Optional<String> software(Gpu gpu) {
    return isSoftware(gpu) ? Optional.of("software") : Optional.empty();
  }

  private static OptionalLong memory(Gpu gpu, Optional<GpuFacts> seen) {
    if (isSoftware(gpu)) {
      return OptionalLong.of(gpu.memory().orElse(SOFTWARE_MEMORY).bytes());
    }
    return seen.map(facts -> OptionalLong.of(facts.memory())).orElse(OptionalLong.empty());
  }
}
