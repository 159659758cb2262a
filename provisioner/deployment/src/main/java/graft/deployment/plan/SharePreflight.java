package graft.deployment.plan;

import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.common.grants.Share;
import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.VGpu;
import graft.deployment.journal.JournalState;
import graft.deployment.step.Step;
import graft.deployment.step.guest.GrantAccess;
import graft.deployment.step.host.HostServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Refuses shares of GPUs that could not be kept. */
final class SharePreflight {
  private static final int WHOLE = 100;

  /** A guaranteed share among the settings of the server's list. */
  private static final Pattern GUARANTEED =
      Pattern.compile("class=guaranteed compute=(\\d{1,3})\\b");

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

  private void gpu(Gpu gpu) {
    List<Guest> users =
        input.descriptor().guests().stream()
            .filter(guest -> guest.vgpu(gpu.name()).isPresent())
            .toList();
    List<String> holders = new ArrayList<>();
    List<String> strangers = new ArrayList<>();
    int guaranteed = gpu.owner().kind() == Owner.Kind.HOST ? others(gpu, holders, strangers) : 0;
    for (Guest user : users) {
      VGpu vgpu = user.vgpu(gpu.name()).orElseThrow();
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

  /**
   * Finds the guests of other deployments that have the same device.
   *
   * @param holders gets those with guaranteed shares, and these
   * @param users gets all
   * @return the guaranteed shares, in percent
   */
  private int others(Gpu gpu, List<String> holders, List<String> users) {
    int guaranteed = 0;
    for (Map.Entry<String, JournalState> other : input.others().entrySet()) {
      List<Step> steps = other.getValue().newestFirst();
      Set<String> same =
          steps.stream()
              .filter(HostServer.class::isInstance)
              .map(HostServer.class::cast)
              .filter(server -> server.device().equals(gpu.device().toString()))
              .map(HostServer::gpu)
              .collect(Collectors.toSet());
      for (Step step : steps) {
        if (step instanceof GrantAccess grant && same.contains(grant.gpu())) {
          String name = grant.guest() + " of " + other.getKey();
          users.add(name);
          Matcher share = GUARANTEED.matcher(grant.settings());
          if (share.find()) {
            guaranteed += Integer.parseInt(share.group(1));
            holders.add(name + " " + share.group(1));
          }
        }
      }
    }
    return guaranteed;
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

  private void exclusive(Gpu gpu, Guest user, List<Guest> users, List<String> strangers) {
    VGpu vgpu = user.vgpu(gpu.name()).orElseThrow();
    if (vgpu.exclusive() && users.size() + strangers.size() > 1) {
      List<String> others =
          Stream.concat(
                  users.stream()
                      .filter(other -> !other.equals(user))
                      .map(other -> other.name().text()),
                  strangers.stream())
              .map(other -> "'" + other + "'")
              .toList();
      problems.add(
          positions.of(vgpu, "exclusive"),
          "the guest is to have '"
              + gpu.name()
              + "' to itself, and "
              + String.join(", ", others)
              + " uses it too",
          "remove 'exclusive', or the other vGPU");
    }
  }
}
