package graft.deployment.descriptor.guest;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.bind.Shorthand;
import graft.common.values.Name;
import java.util.List;
import java.util.Optional;

/** How the client and whatever else a guest needs are installed. */
@Shorthand("way")
@Doc("How the client and whatever else a guest needs are installed.")
public record Setup(
    @Default("auto") @Doc("The install method. auto chooses the best that works.") Method way,
    @Doc("Bundles of files, packages and services, beside the client.") List<BundleUse> bundles,
    @Doc("The group in the guest whose members may use its vGPU. If absent, root alone.")
        Optional<Name> group,
    @Doc("Files to copy into the guest.") List<SetupFile> files,
    @Doc("A cloud-config file that is added to the seed.") Optional<String> userData,
    @Doc("How to log in, for the method ssh.") Optional<Ssh> ssh) {

  /** The install methods. */
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
