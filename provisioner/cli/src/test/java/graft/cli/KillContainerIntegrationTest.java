package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import graft.hypervisors.libvirt.LibvirtHost;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A real process that applies a container and its server is killed on its way. */
@Tag("integration")
@EnabledIfSystemProperty(named = "user.name", matches = "root")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.MACHINES)
class KillContainerIntegrationTest {
  private static final String SETUP = RealHost.unique("provtest-kc");
  private static final String GUEST = RealHost.unique("provtest-box");
  private static final int KILLED = 128 + 9;

  @TempDir Path folder;
  @AutoClose private GraftProcess graft;

  @AfterEach
  void sweep() throws Exception {
    if (graft != null && Files.exists(graft.state(SETUP))) {
      graft.run("destroy", "--delete-data", SETUP);
    }
  }

  /** Each time one of the two ways out is tried, chosen at random. */
  @Test
  void afterSigkillAtAnyMomentApplyGoesOnAndUndoTakesBack() throws Exception {
    graft = new GraftProcess(folder);
    String lab =
        RealHost.descriptor(
            folder,
            """
            graft: 1
            name: %s
            hypervisor: lxc
            gpus: [{name: gpu0, device: software}]
            guests:
              - name: %s
                root: %s
                memory: 128MiB
                vgpu: gpu0
                ready: {verify: false}
            """
                .formatted(SETUP, GUEST, RealHost.initramfs()));
    long seed = new Random().nextLong();
    System.out.println("KillContainerIntegrationTest: seed " + seed);
    Random random = new Random(seed);
    int moment = 1 + random.nextInt(KillingApply.EVERY);
    while (graft.runMain(KillingApply.class, String.valueOf(moment), lab).code() == KILLED) {
      if (random.nextBoolean()) {
        graft.run("undo", "--delete-data", SETUP).as(0);
      } else {
        graft.run("apply", lab).as(0);
        graft.run("exec", SETUP, GUEST, "--", "true").as(0);
        graft.run("destroy", "--delete-data", SETUP).as(0);
      }
      assertNothingLeft();
      moment += KillingApply.EVERY;
    }
    graft.run("destroy", "--delete-data", SETUP).as(0);
    assertNothingLeft();
    assertThat(moment).as("the moment that did not come").isGreaterThan(20);
  }

  private void assertNothingLeft() throws Exception {
    RealHost.assertNothingLeft(graft, SETUP, GUEST);
    try (LibvirtHost host = LibvirtHost.open("lxc:///system")) {
      assertThat(host.guests().stream().map(guest -> guest.name())).doesNotContain(GUEST);
    }
    for (String file : new String[] {"/etc/subuid", "/etc/subgid"}) {
      assertThat(Files.readString(Path.of(file))).doesNotContain(GUEST);
    }
  }
}
