package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import graft.hypervisors.libvirt.LibvirtHost;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The memory, the CPUs, the network cards and the disks of a real guest change while it runs. */
@Tag("integration")
class InPlaceIntegrationTest {
  private static final String LAB = RealHost.unique("provtest-inplace");
  private static final String BEFORE = "memory: 256MiB\n    cpus: 1\n    networks: [user, user]";
  private static final String AFTER =
      "memory: 320MiB\n    cpus: 2\n    networks: [user, user, user]\n    disks: [{name: data, size: 16MiB}]";
  private static final String GUEST = RealHost.unique("provtest-grows");

  /** What the kernel keeps for itself, in KiB, differs a little from boot to boot. */
  private static final long KERNELS_OWN = 1024;

  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  @TempDir Path folder;
  @AutoClose private GraftProcess graft;

  @BeforeEach
  void start() throws Exception {
    graft = new GraftProcess(folder);
  }

  @AfterEach
  void sweep() throws Exception {
    if (Files.exists(graft.state(LAB))) {
      graft.run("destroy", LAB);
    }
    RealHost.sweep(GUEST);
  }

  @Test
  void aGuestChangesWhileItRunsAndUndoTakesItBack() throws Exception {
    graft.run("apply", guest(BEFORE)).as(0);
    String look = "cat /proc/sys/kernel/random/boot_id";
    String boot = inGuest(look);
    long before = memoryInGuest(256);
    assertThat(devicesInGuest()).isEqualTo("cpus 0, cards eth0 eth1 lo, disks -");
    String two = BEFORE.replace("cpus: 1", "cpus: 2");
    graft.run("apply", guest(two)).as(0);
    assertThat(devicesInGuest()).isEqualTo("cpus 0-1, cards eth0 eth1 lo, disks -");
    graft.run("undo", LAB).as(0);
    assertThat(devicesInGuest()).isEqualTo("cpus 0, cards eth0 eth1 lo, disks -");
    graft.run("apply", guest(two)).as(0);
    assertThat(devicesInGuest()).isEqualTo("cpus 0-1, cards eth0 eth1 lo, disks -");
    graft.run("apply", guest(BEFORE)).as(0);
    assertThat(devicesInGuest()).isEqualTo("cpus 0, cards eth0 eth1 lo, disks -");
    assertThat(graft.run("plan", guest(BEFORE)).as(0).out()).contains("nothing to do");
    assertThat(graft.run("status", LAB).as(0).out()).doesNotContain("differs");
    graft.run("apply", guest(two)).as(0);
    assertThat(devicesInGuest()).isEqualTo("cpus 0-1, cards eth0 eth1 lo, disks -");

    String more = guest(AFTER);
    assertThat(graft.run("plan", more).as(0).out())
        .contains(
            "guest " + GUEST + ": changes in place",
            "(changed: 256MiB → 320MiB)",
            "attach a network card on user",
            "attach its disk 'data'",
            "4 steps\n");
    graft.run("apply", more).as(0);
    assertThat(memoryInGuest(320) - before).isEqualTo(64 << 10);
    assertThat(devicesInGuest()).isEqualTo("cpus 0-1, cards eth0 eth1 eth2 lo, disks data");
    assertThat(inGuest(look)).as("the same boot").isEqualTo(boot);
    assertThat(graft.run("plan", more).as(0).out()).contains("nothing to do");
    assertThat(graft.run("status", more).as(0).out()).doesNotContain("differs");
    inGuest("echo kept > /dev/vda && sync");
    graft.run("restart", LAB, GUEST, "--force").as(0);
    assertThat(inGuest("head -n 1 /dev/vda")).as("the disk's content").isEqualTo("kept\n");
    assertThat(memoryInGuest(320) - before)
        .as("after its next start, too, whose kernel has another CPU to care for")
        .isCloseTo(64L << 10, within(KERNELS_OWN));
    assertThat(devicesInGuest()).isEqualTo("cpus 0-1, cards eth0 eth1 eth2 lo, disks data");
    boot = inGuest(look);

    graft.run("undo", LAB).as(1); // it would delete the disk
    graft.run("undo", LAB, "--delete-data").as(0);
    assertThat(memoryInGuest(256)).isCloseTo(before, within(KERNELS_OWN));
    assertThat(devicesInGuest()).isEqualTo("cpus 0-1, cards eth0 eth1 lo, disks -");

    graft.run("apply", guest(two.replace("[user, user]", "[user]"))).as(0);
    assertThat(devicesInGuest()).isEqualTo("cpus 0-1, cards eth0 lo, disks -");
    graft.run("undo", LAB).as(0);
    assertThat(devicesInGuest()).isEqualTo("cpus 0-1, cards eth0 eth1 lo, disks -");
    assertThat(inGuest(look)).as("the same boot").isEqualTo(boot);

    withoutItsAgentTheGuestKeepsItsCpus(two);
    graft.run("destroy", LAB, "--delete-data").as(0);
    RealHost.assertNothingLeft(graft, LAB, GUEST);
  }

  private void withoutItsAgentTheGuestKeepsItsCpus(String two) throws Exception {
    inGuest("(sleep 1; killall qemu-ga) >/dev/null 2>&1 &");
    for (int i = 0; graft.run("exec", LAB, GUEST, "--", "true").code() == 0; i++) {
      assertThat(i).as("commands that the agent still ran").isLessThan(50);
      Thread.sleep(200);
    }
    assertThat(graft.run("apply", guest(BEFORE)).as(1).err())
        .contains(
            "the agent of the emulated guest '" + GUEST + "' did not take CPUs offline",
            "stop it (graft stop), then apply again");
    graft.run("undo", LAB).as(0);
    assertThat(graft.run("plan", guest(two)).as(0).out())
        .as("it has the CPUs that it had")
        .contains("nothing to do");
  }

  /**
   * What its kernel has: CPUs that are online, network cards, and disks by their serial numbers.
   */
  private String devicesInGuest() throws Exception {
    return inGuest(
            "cd /sys/class/net; cards=$(echo *);"
                + " disks=$(cat /sys/block/vd*/serial 2>/dev/null || echo -);"
                + " echo cpus $(cat /sys/devices/system/cpu/online), cards $cards, disks $disks")
        .strip();
  }

  /**
   * What its kernel counts, in KiB: what the balloon has taken is not among it. The balloon may
   * still be on its way to this many MiB when the guest is ready, and after an undo.
   */
  private long memoryInGuest(int mib) throws Exception {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    try (LibvirtHost host = LibvirtHost.open(RealHost.uri())) {
      while (host.guest(GUEST).orElseThrow().info().memory().mib() != mib) {
        assertThat(System.nanoTime()).as("its balloon is done").isLessThan(deadline);
        LockSupport.parkNanos(10_000_000);
      }
    }
    return Long.parseLong(inGuest("awk '/^MemTotal/ {print $2}' /proc/meminfo").strip());
  }

  private String guest(String settings) throws Exception {
    return RealHost.descriptor(
        folder,
        """
        graft: 1
        name: %s
        guests:
          - name: %s
            kernel: {image: %s, initramfs: %s, arguments: console=ttyS0 quiet}
            max-memory: 384MiB
            max-cpus: 2
            %s
            ready: {timeout: 3m}
        """
            .formatted(LAB, GUEST, RealHost.kernel(), RealHost.initramfs(), settings));
  }

  private String inGuest(String script) throws Exception {
    return graft.run("exec", LAB, GUEST, "--", "/bin/sh", "-c", script).as(0).out();
  }
}
