package graft.deployment.descriptor.guest;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.bind.Shorthand;
import graft.common.values.Name;
import java.util.List;
import java.util.Optional;

/** How a guest gets the client and whatever else it needs. */
@Shorthand("way")
@Doc("How a guest gets the client and whatever else it needs.")
public record Setup(
    @Default("auto") @Doc("The way in. auto takes the best that works.") Method way,
    @Doc("Bundles of files, packages and services, beside the client.") List<BundleUse> bundles,
    @Doc("The group in the guest whose members may use its vGPU; root alone if absent.")
        Optional<Name> group,
    @Doc("Files that are put into the guest.") List<SetupFile> files,
    @Doc("A cloud-config file whose text goes into the seed as well.") Optional<String> userData,
    @Doc("How to log in, where the way is ssh.") Optional<Ssh> ssh) {

  /** The ways into a guest. */
  public enum Method {
    AUTO,
    /** A cloud-init NoCloud seed at the first boot. */
    SEED,
    /** An addition to the initramfs of a guest that boots a kernel. */
    INITRAMFS,
    /** The QEMU guest agent of a running guest. */
    AGENT,
    /** SSH and Ansible. */
    SSH,
    /** Into the image, before it boots. */
    IMAGE,
    /** Nothing is put into the guest. */
    NONE
  }
}
