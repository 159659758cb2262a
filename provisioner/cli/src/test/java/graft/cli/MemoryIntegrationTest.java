package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The memory of a real guest changes while it runs. */
@Tag("integration")
class MemoryIntegrationTest {
  private static final String LAB = RealHost.unique("provtest-memory");
  private static final String GUEST = RealHost.unique("provtest-grows");

  @TempDir Path folder;
  private GraftProcess graft;

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
  void memoryChangesWhileTheGuestRunsAndUndoTakesItBack() throws Exception {
    graft.run("apply", withMaximum("256MiB")).as(0);
    String look = "cat /proc/sys/kernel/random/boot_id";
    String boot = inGuest(look);
    long before = memoryInGuest();

    String more = withMaximum("320MiB");
    assertThat(graft.run("plan", more).as(0).out())
        .contains(
            "guest " + GUEST + ": changes in place", "(changed: 256MiB → 320MiB)", "1 step\n");
    graft.run("apply", more).as(0);
    assertThat(memoryInGuest() - before).isEqualTo(64 << 10);
    assertThat(inGuest(look)).as("the same boot").isEqualTo(boot);
    assertThat(graft.run("status", more).as(0).out()).doesNotContain("differs");
    graft.run("restart", LAB, GUEST, "--force").as(0);
    assertThat(memoryInGuest() - before).as("after its next start, too").isEqualTo(64 << 10);
    boot = inGuest(look);

    graft.run("undo", LAB).as(0);
    assertThat(memoryInGuest()).isEqualTo(before);
    assertThat(inGuest(look)).as("the same boot").isEqualTo(boot);
    graft.run("destroy", LAB).as(0);
    RealHost.assertNothingLeft(graft, LAB, GUEST);
  }

  /** What its kernel counts, in KiB: what the balloon has taken is not among it. */
  private long memoryInGuest() throws Exception {
    return Long.parseLong(inGuest("awk '/^MemTotal/ {print $2}' /proc/meminfo").strip());
  }

  private String withMaximum(String memory) throws Exception {
    return RealHost.descriptor(
        folder,
        """
        graft: 1
        name: %s
        guests:
          - name: %s
            kernel: {image: %s, initramfs: %s, arguments: console=ttyS0 quiet}
            memory: %s
            max-memory: 384MiB
            ready: {timeout: 3m}
        """
            .formatted(LAB, GUEST, RealHost.kernel(), RealHost.initramfs(), memory));
  }

  private String inGuest(String script) throws Exception {
    return graft.run("exec", LAB, GUEST, "--", "/bin/sh", "-c", script).as(0).out();
  }
}
