package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A real process that applies a real guest and a real server is killed on its way. */
@Tag("integration")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.GUESTS)
class KillIntegrationTest {
  private static final String SETUP = RealHost.unique("provtest-kill");
  private static final String GUEST = RealHost.unique("provtest-victim");
  private static final int KILLED = 128 + 9;

  @TempDir Path folder;
  @AutoClose private GraftProcess graft;

  @AfterEach
  void sweep() throws Exception {
    if (graft != null && Files.exists(graft.state(SETUP))) {
      graft.run("destroy", SETUP);
    }
    RealHost.sweep(GUEST);
  }

  /**
   * Its guest counts as ready at once: what matters here is what is made, not how it boots. Each
   * time one of the two ways out is tried, chosen at random.
   */
  @Test
  void afterSigkillAtAnyMomentApplyGoesOnAndUndoTakesBack() throws Exception {
    graft = new GraftProcess(folder);
    String lab = descriptor("auto", "when: \"off\"");
    long seed = new Random().nextLong();
    System.out.println("KillIntegrationTest: seed " + seed);
    Random random = new Random(seed);
    int moment = 1 + random.nextInt(KillingApply.EVERY);
    while (killedAt(String.valueOf(moment), lab)) {
      if (random.nextBoolean()) {
        graft.run("undo", SETUP).as(0);
      } else {
        graft.run("apply", lab).as(0);
        graft.run("status", lab).as(0);
        graft.run("destroy", lab).as(0);
      }
      RealHost.assertNothingLeft(graft, SETUP, GUEST);
      moment += KillingApply.EVERY;
    }
    assertThat(moment).as("the moment that did not come").isGreaterThan(16);
  }

  @Test
  void afterSigkillWhileItWaitsForTheGuestApplyGoesOnWaiting() throws Exception {
    graft = new GraftProcess(folder);
    String lab =
        descriptor("tcp", "when: console, text: Linux version, timeout: 3m, verify: false");
    assertThat(killedAt("ready", lab)).isTrue();
    assertThat(graft.run("apply", lab).as(0).err())
        .contains("wait until its console shows 'Linux version'")
        .doesNotContain("start it");
    graft.run("destroy", lab).as(0);
    RealHost.assertNothingLeft(graft, SETUP, GUEST);
  }

  /** Whether it was killed; if not it came to its end, and was undone. */
  private boolean killedAt(String moment, String lab) throws Exception {
    GraftProcess.Ended ended = graft.runMain(KillingApply.class, moment, lab);
    if (ended.code() == KILLED) {
      return true;
    }
    ended.as(0);
    graft.run("destroy", lab).as(0);
    return false;
  }

  private String descriptor(String channel, String ready) throws Exception {
    return RealHost.descriptor(
        folder,
        """
        graft: 1
        name: %s
        gpus: [{name: gpu0, device: software}]
        guests:
          - name: %s
            kernel: {image: %s, initramfs: %s, arguments: console=ttyS0}
            memory: 256MiB
            vgpu: {gpu: gpu0, channel: %s}
            ready: {%s}
        """
            .formatted(SETUP, GUEST, RealHost.kernel(), RealHost.initramfs(), channel, ready));
  }
}
