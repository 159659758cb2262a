package graft.sriov.vf;

import java.time.Duration;

/**
 * How long the kernel may take for what it is told.
 *
 * @param attribute a setting: it may go to the adapter's firmware
 * @param bind binding or unbinding a driver: it may start firmware or wait for users to let go
 * @param vfs making or removing VFs, without what each takes
 * @param eachVf what each VF may add to that
 */
public record TimeLimits(Duration attribute, Duration bind, Duration vfs, Duration eachVf) {
  /** What healthy hardware stays far below. */
  public static final TimeLimits DEFAULT =
      new TimeLimits(
          Duration.ofSeconds(30),
          Duration.ofSeconds(60),
          Duration.ofSeconds(60),
          Duration.ofSeconds(2));

  /** For making or removing that many VFs. */
  public Duration forVfs(int count) {
    return vfs.plus(eachVf.multipliedBy(count));
  }
}
