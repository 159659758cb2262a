package graft.hypervisors.libvirt.domain;

/**
 * A virtio port between host and guest; libvirt chooses the socket on the host.
 *
 * @param name the port's name below {@code /dev/virtio-ports} in the guest
 */
public record ChannelSpec(String name) {

  /** The port that the QEMU guest agent serves. */
  public static final ChannelSpec GUEST_AGENT = new ChannelSpec("org.qemu.guest_agent.0");

  public ChannelSpec {
    Checks.name("channel", name);
  }
}
