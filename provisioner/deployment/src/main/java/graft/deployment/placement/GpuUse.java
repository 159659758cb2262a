package graft.deployment.placement;

import graft.deployment.descriptor.gpu.Gpu;
import graft.deployment.descriptor.gpu.GpuDevice;
import graft.deployment.descriptor.gpu.Owner;
import graft.deployment.journal.JournalState;
import graft.deployment.step.Step;
import graft.deployment.step.guest.GrantAccess;
import graft.deployment.step.host.HostServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What one guest has of a GPU.
 *
 * @param guest its name; of another deployment {@code alice of elder}
 * @param guaranteed its guaranteed share of the GPU's time, in percent
 * @param memory the limit of its memory on the GPU, in bytes; 0 for none
 * @param exclusive whether no other guest may use the GPU
 * @param dense whether its programs run at the same time as those of other guests, by MPS
 */
public record GpuUse(String guest, int guaranteed, long memory, boolean exclusive, boolean dense) {
  private static final Pattern DENSE = Pattern.compile("(?:^| )class=dense(?: |$)");
  private static final Pattern GUARANTEED =
      Pattern.compile("(?:^| )class=guaranteed compute=(\\d{1,3})(?: |$)");
  private static final Pattern MEMORY = Pattern.compile("(?:^| )guest-memory=(\\d{1,18})(?: |$)");

  /**
   * Reads the settings of a server's list of tokens, which do not say whether the guest is alone.
   */
  static GpuUse of(String guest, String settings) {
    Matcher share = GUARANTEED.matcher(settings);
    Matcher memory = MEMORY.matcher(settings);
    return new GpuUse(
        guest,
        share.find() ? Integer.parseInt(share.group(1)) : 0,
        memory.find() ? Long.parseLong(memory.group(1)) : 0,
        false,
        DENSE.matcher(settings).find());
  }

  /**
   * What the guests of other deployments have of a GPU of this host, as far as their journals say.
   *
   * @param others the journals by the deployments' names
   */
  public static List<GpuUse> ofOthers(Map<String, JournalState> others, Gpu gpu) {
    List<GpuUse> uses = new ArrayList<>();
    if (gpu.owner().kind() != Owner.Kind.HOST) {
      return uses;
    }
    String device = gpu.device().toString();
    // Each server has a software device of its own, with memory of its own.
    boolean isShared = gpu.device().kind() != GpuDevice.Kind.SOFTWARE;
    for (Map.Entry<String, JournalState> other : others.entrySet()) {
      List<Step> steps = other.getValue().newestFirst();
      Set<String> same =
          steps.stream()
              .filter(HostServer.class::isInstance)
              .map(HostServer.class::cast)
              .filter(server -> server.device().equals(device))
              .map(HostServer::gpu)
              .collect(Collectors.toSet());
      for (Step step : steps) {
        if (step instanceof GrantAccess grant && same.contains(grant.gpu())) {
          GpuUse use = of(grant.guest() + " of " + other.getKey(), grant.settings());
          uses.add(isShared ? use : new GpuUse(use.guest, use.guaranteed, 0, false, false));
        }
      }
    }
    return uses;
  }
}
