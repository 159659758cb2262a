package graft.deployment.placement;

import graft.common.grants.Share;
import graft.common.values.Name;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.guest.Channel;
import graft.deployment.descriptor.guest.VGpu;
import graft.deployment.step.guest.GrantAccess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** The guests of other hosts that use GPUs of this one, over the network alone. */
public final class RemoteGuests {
  private RemoteGuests() {}

  /**
   * The steps that let them use the GPUs.
   *
   * @param tokens the list of tokens of a GPU's server
   */
  public static List<GrantAccess> access(DescriptorFile file, Function<Name, Path> tokens) {
    return file.descriptor().remoteGuests().stream()
        .map(
            remote ->
                new GrantAccess(
                    remote.name().text(),
                    remote.vgpu().gpu().text(),
                    file.resolve(remote.tokenFile()),
                    tokens.apply(remote.vgpu().gpu()),
                    settings(remote.vgpu())))
        .toList();
  }

  private static String settings(VGpu vgpu) {
    List<String> settings = new ArrayList<>(vgpu.limits());
    if (vgpu.unencrypted().contains(Channel.TCP)) {
      settings.add("encryption=optional");
    }
    vgpu.share().map(Share::settings).ifPresent(settings::addAll);
    return String.join(" ", settings);
  }
}
