package graft.sriov.vf;

import java.time.Duration;

/**
 * The longest times that the kernel may take for a change.
 *
 * @param attribute for a setting, which may involve the adapter's firmware
 * @param bind for binding or unbinding a driver, which may start firmware or wait for users to
 *     close the device
 * @param vfs for creating or removing VFs, without the time for each VF
 * @param eachVf the additional time for each VF
 */
public record TimeLimits(Duration attribute, Duration bind, Duration vfs, Duration eachVf) {
  /** Limits that are far above the times of healthy hardware. */
  public static final TimeLimits DEFAULT =
      new TimeLimits(
          Duration.ofSeconds(30),
          Duration.ofSeconds(60),
          Duration.ofSeconds(60),
          Duration.ofSeconds(2));

  /** The limit for creating or removing a number of VFs. */
  public Duration forVfs(int count) {
    return vfs.plus(eachVf.multipliedBy(count));
  }
}
