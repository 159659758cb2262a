package graft.sriov;

/** The link state of a VF's port: fixed, or that of the physical port. */
public enum VfPolicy {
  /** The state of the physical port: {@code auto} of {@code ip}, {@code Follow} of OFED. */
  FOLLOW("Follow", 0),
  /** Always up: {@code enable} of {@code ip}, {@code Up} of OFED. */
  UP("Up", 1),
  /** Always down: {@code disable} of {@code ip}, {@code Down} of OFED. */
  DOWN("Down", 2);

  private final String text;
  private final int linkState;

  VfPolicy(String text, int linkState) {
    this.text = text;
    this.linkState = linkState;
  }

  /** The text in OFED's sysfs files. */
  public String text() {
    return text;
  }

  /** {@code IFLA_VF_LINK_STATE_*} (Linux, include/uapi/linux/if_link.h). */
  public int linkState() {
    return linkState;
  }
}
