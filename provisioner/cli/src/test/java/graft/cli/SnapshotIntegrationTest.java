package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.json.Json;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A snapshot of the disk of a real guest. */
@Tag("integration")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.MACHINES)
class SnapshotIntegrationTest {
  private static final String SETUP = RealHost.unique("provtest-snapshots");
  private static final String GUEST = RealHost.unique("provtest-disk");

  @TempDir Path folder;
  @AutoClose private GraftProcess graft;

  @BeforeEach
  void start() throws Exception {
    graft = new GraftProcess(folder);
  }

  @AfterEach
  void sweep() throws Exception {
    if (Files.exists(graft.state(SETUP))) {
      graft.run("destroy", "--delete-data", SETUP);
    }
    RealHost.sweep(GUEST);
  }

  @Test
  void aDiskGoesBackToWhatItHeld() throws Exception {
    graft.run("apply", descriptor("4MiB")).as(0);
    inGuest("printf first. >/dev/vda; sync");
    assertThat(graft.run("snapshot", "create", SETUP, GUEST, "one").as(1).err())
        .contains("'" + GUEST + "' runs", "graft stop " + SETUP + " " + GUEST + ", or --stop");

    Map<String, Object> made =
        Json.readObject(
            graft
                .run("snapshot", "create", "--stop", "--force", "-o", "json", SETUP, GUEST, "one")
                .as(0)
                .out());
    assertThat(made).containsEntry("guestState", "running").containsKey("diskBytes");
    assertThat(((Map<?, ?>) ((List<?>) made.get("snapshots")).get(0)).get("disks"))
        .isEqualTo(List.of("data"));
    assertThat(inGuest("head -c 6 /dev/vda; printf second >/dev/vda; sync")).isEqualTo("first.");
    assertThat(graft.run("apply", descriptor("8MiB")).as(0).err()).contains("'data' larger: 8MiB");
    assertThat(inGuest("cat /sys/class/block/vda/size")).as("in sectors").isEqualTo("16384\n");
    assertThat(graft.run("snapshot", "restore", "--stop", SETUP, GUEST, "one").as(1).err())
        .contains("would delete data, and nothing was changed: what the disk 'data' of " + GUEST);

    assertThat(graft.run("stop", SETUP, "--force").as(0).out()).contains(GUEST + ": stopped");
    assertThat(onDisk()).isEqualTo("second");
    graft.run("snapshot", "restore", "--delete-data", SETUP, GUEST, "one").as(0);
    assertThat(onDisk()).isEqualTo("first.");
    assertThat(graft.run("snapshot", "list", SETUP, GUEST).as(0).out())
        .contains("one  ", "  data  whole", "guest " + GUEST + " is shut off");
    graft.run("destroy", "--delete-data", SETUP).as(0);
    RealHost.assertNothingLeft(graft, SETUP, GUEST);
  }

  private String inGuest(String script) throws Exception {
    return graft.run("exec", SETUP, GUEST, "--", "/bin/sh", "-c", script).as(0).out();
  }

  /** What the guest would find at the beginning of its disk. */
  private String onDisk() throws Exception {
    Map<String, Object> row =
        Json.readObject(
            Files.readAllLines(graft.state(SETUP).resolve("journal.jsonl")).stream()
                .filter(line -> line.contains("\"create-disk\""))
                .findFirst()
                .orElseThrow());
    String disk = String.valueOf(((Map<?, ?>) row.get("step")).get("target"));
    Path raw = folder.resolve("raw");
    Process convert =
        new ProcessBuilder("qemu-img", "convert", "-f", "qcow2", "-O", "raw", disk, raw.toString())
            .inheritIO()
            .start();
    assertThat(convert.waitFor()).isZero();
    byte[] bytes = Files.readAllBytes(raw);
    return new String(bytes, 0, 6, StandardCharsets.US_ASCII);
  }

  private String descriptor(String size) throws Exception {
    return RealHost.descriptor(
        folder,
        """
        graft: 1
        name: %s
        guests:
          - name: %s
            kernel: {image: %s, initramfs: %s, arguments: console=ttyS0 quiet}
            memory: 256MiB
            disks: [{name: data, size: %s}]
            ready: {timeout: 3m}
        """
            .formatted(SETUP, GUEST, RealHost.kernel(), RealHost.initramfs(), size));
  }
}
