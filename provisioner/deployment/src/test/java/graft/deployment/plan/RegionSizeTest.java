package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.values.MemorySize;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How much memory a guest shares with the server of its GPU. */
class RegionSizeTest {
  private static final String GUESTS =
      """
      graft: 1
      name: lab
      gpus: [{name: gpu0, device: software}]
      guests:
      """;

  private final FakeHost host =
      new FakeHost()
          .file("/d/vmlinuz")
          .file("/d/initramfs.cpio")
          .memory(64L << 30)
          .sharedMemory(32L << 30);

  private static String guest(String name, String memory, String region) {
    return """
        - name: %s
          kernel: {image: vmlinuz, initramfs: initramfs.cpio}
          memory: %s
          vgpu: {gpu: gpu0%s}
      """
        .formatted(name, memory, region.isEmpty() ? "" : ", region: " + region)
        .indent(2);
  }

  private static String alice(String memory, String region) {
    return GUESTS + guest("alice", memory, region);
  }

  @ParameterizedTest
  @CsvSource({
    "512MiB, 128MiB",
    "2GiB, 512MiB",
    "3GiB, 512MiB",
    "4GiB, 1GiB",
    "32GiB, 1GiB",
  })
  void aNewGuestSharesAQuarterOfItsMemory(String memory, String region) throws Exception {
    assertThat(host.plan(alice(memory, "")).toText())
        .contains("channels ivshmem (" + region + "), tcp", "make " + region + " of memory");
  }

  @ParameterizedTest
  @CsvSource({"8GiB, 1GiB", "3GiB, 512MiB", "200MiB, 128MiB"})
  void butNoMoreThanAQuarterOfWhatTheHostHasFree(String free, String region) throws Exception {
    host.sharedMemory(MemorySize.parse(free).bytes());
    assertThat(host.plan(alice("16GiB", "")).toText()).contains("make " + region + " of memory");
  }

  @Test
  void guestsDivideWhatTheHostHasFree() throws Exception {
    host.sharedMemory(4L << 30);
    String both = GUESTS + guest("alice", "8GiB", "") + guest("bob", "8GiB", "");
    assertThat(host.plan(both).toText())
        .contains("make 1GiB of memory that it shares with the server, /dev/shm/graft.lab.alice")
        .contains("make 512MiB of memory that it shares with the server, /dev/shm/graft.lab.bob");
  }

  @Test
  void aGuestThatIsThereKeepsItsRegion() throws Exception {
    host.carryOut(host.plan(alice("8GiB", "128MiB")));
    Plan plan = host.plan(alice("8GiB", ""));
    assertThat(plan.actions()).isEmpty();
    assertThat(plan.warnings())
        .containsExactly(
            "the guest 'alice' keeps its region of 128MiB; a new guest gets 1GiB. To change it,"
                + " which starts the guest again: region: 1GiB in its vgpu");
    assertThat(host.plan(alice("8GiB", "128MiB")).warnings()).as("as wanted").isEmpty();
  }

  @Test
  void theSizeOfTheRegionStaysWhateverIsFreeLater() throws Exception {
    host.carryOut(host.plan(alice("8GiB", "")));
    host.sharedMemory(0);
    Plan plan = host.plan(alice("8GiB", ""));
    assertThat(plan.actions()).isEmpty();
    assertThat(plan.warnings()).isEmpty();
  }

  @Test
  void anotherSizeStartsTheGuestAgainAndKeepsItsDisks() throws Exception {
    host.carryOut(host.plan(alice("8GiB", "128MiB")));
    assertThat(host.plan(alice("8GiB", "2GiB")).actions())
        .extracting(a -> a.kind() + " " + a.step().name())
        .contains("UNDO start", "UNDO region", "DO region", "DO define", "DO start")
        .doesNotContain("UNDO folder", "UNDO disk-root");
  }
}
