package graft.deployment.plan;

import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.common.grants.Share;
import graft.common.values.Name;
import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.GpuDevice;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.descriptor.guest.VGpu;
import graft.deployment.placement.GpuUse;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Refuses shares of GPUs that could not be kept. */
final class SharePreflight {
  private static final int WHOLE = 100;

  private final PlanInput input;
  private final Positions positions;
  private final Problems problems;

  SharePreflight(PlanInput input, Problems problems) {
    this.input = input;
    this.positions = input.file().positions();
    this.problems = problems;
  }

  void check() {
    input.descriptor().gpus().forEach(this::gpu);
  }

  /** The guests of a GPU whose programs run at the same time, by NVIDIA's MPS. */
  static List<String> dense(Descriptor descriptor, Gpu gpu) {
    return users(descriptor, gpu).stream()
        .filter(user -> user.vgpu().isDense())
        .map(user -> user.name().text())
        .toList();
  }

  /** Who has to trust whom. */
  static List<String> warnings(Descriptor descriptor) {
    List<String> warnings = new ArrayList<>();
    for (Gpu gpu : descriptor.gpus()) {
      List<String> dense = dense(descriptor, gpu);
      if (!dense.isEmpty()) {
        warnings.add(
            "the dense guests of '"
                + gpu.name()
                + "' ("
                + String.join(", ", dense)
                + ") have to trust each other: their programs run as one user of this host, and a"
                + " fault of one on the GPU ends the programs of all");
      }
    }
    return warnings;
  }

  private void gpu(Gpu gpu) {
    List<User> users = users(input.descriptor(), gpu);
    List<String> holders = new ArrayList<>();
    List<String> strangers = new ArrayList<>();
    List<String> denseStrangers = new ArrayList<>();
    int guaranteed = 0;
    for (GpuUse other : GpuUse.ofOthers(input.others(), gpu)) {
      strangers.add(other.guest());
      if (other.dense()) {
        denseStrangers.add(other.guest());
      }
      if (other.guaranteed() > 0) {
        guaranteed += other.guaranteed();
        holders.add(other.guest() + " " + other.guaranteed());
      }
    }
    dense(gpu, users, strangers);
    if (!denseStrangers.isEmpty() && !users.isEmpty() && !users.get(0).vgpu().isDense()) {
      problems.add(
          positions.of(users.get(0).vgpu()),
          "'"
              + gpu.name()
              + "' has dense guests, and all of its guests have to be of one deployment then: "
              + quoted(Stream.of(), denseStrangers),
          "use another GPU");
    }
    for (User user : users) {
      VGpu vgpu = user.vgpu();
      exclusive(gpu, user, users, strangers);
      Optional<Share> share = share(gpu, vgpu);
      if (share.isPresent() && share.get().type() == Share.Type.GUARANTEED) {
        guaranteed += share.get().percent();
        holders.add(user.name() + " " + share.get().percent());
        if (guaranteed > WHOLE) {
          problems.add(
              positions.of(vgpu, "compute"),
              "the guaranteed shares of '"
                  + gpu.name()
                  + "' are more than 100 percent: "
                  + String.join(", ", holders),
              "lower one, or write 'class: burstable'");
          return;
        }
      }
    }
  }

  private record User(Name name, VGpu vgpu) {}

  private static List<User> users(Descriptor descriptor, Gpu gpu) {
    return Stream.concat(
            descriptor.guests().stream()
                .flatMap(
                    guest ->
                        guest.vgpu(gpu.name()).stream().map(vgpu -> new User(guest.name(), vgpu))),
            descriptor.remoteGuests(gpu).stream()
                .map(remote -> new User(remote.name(), remote.vgpu())))
        .toList();
  }

  private Optional<Share> share(Gpu gpu, VGpu vgpu) {
    Optional<Share> share;
    try {
      share = vgpu.share();
    } catch (IllegalArgumentException e) {
      problems.add(positions.of(vgpu), e.getMessage(), "");
      return Optional.empty();
    }
    if (share.isEmpty()) {
      return share;
    }
    String key =
        vgpu.compute().isPresent() ? "compute" : vgpu.type().isPresent() ? "class" : "priority";
    if (gpu.owner().kind() != Owner.Kind.HOST) {
      problems.add(
          positions.of(vgpu, key),
          "the server of '" + gpu.name() + "', which is not this host's, says what a guest gets",
          "write the share into its list of tokens, and remove the key here");
    }
    return share;
  }

  /** MPS has the GPU for itself: whoever is not its client waits for all of its clients. */
  private void dense(Gpu gpu, List<User> users, List<String> strangers) {
    List<User> dense = users.stream().filter(user -> user.vgpu().isDense()).toList();
    if (dense.isEmpty()) {
      return;
    }
    VGpu first = dense.get(0).vgpu();
    if (gpu.device().kind() == GpuDevice.Kind.SOFTWARE) {
      problems.add(
          positions.of(first, "class"),
          "'" + gpu.name() + "' is the software device, and class dense is NVIDIA's MPS",
          "remove the class; the software device runs the guests' programs at the same time anyway");
      return;
    }
    String others = quoted(users.stream().filter(user -> !user.vgpu().isDense()), strangers);
    if (!others.isEmpty()) {
      problems.add(
          positions.of(first, "class"),
          "with class dense all guests of '"
              + gpu.name()
              + "' have to be dense, and guests of this deployment; "
              + others
              + " uses it too",
          "give all of them the class, or move some to another GPU");
    }
  }

  private static String quoted(Stream<User> users, List<String> strangers) {
    return Stream.concat(users.map(user -> user.name().text()), strangers.stream())
        .map(name -> "'" + name + "'")
        .collect(Collectors.joining(", "));
  }

  private void exclusive(Gpu gpu, User user, List<User> users, List<String> strangers) {
    VGpu vgpu = user.vgpu();
    if (vgpu.exclusive() && users.size() + strangers.size() > 1) {
      String others = quoted(users.stream().filter(other -> !other.equals(user)), strangers);
      problems.add(
          positions.of(vgpu, "exclusive"),
          "the guest is to have '" + gpu.name() + "' to itself, and " + others + " uses it too",
          "remove 'exclusive', or the other vGPU");
    }
  }
}
