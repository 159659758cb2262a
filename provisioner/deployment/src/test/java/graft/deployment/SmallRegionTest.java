package graft.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.values.MemorySize;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a server says of regions that were too small. */
class SmallRegionTest {
  private static final String AT = "2026-01-02T03:04:05Z";

  static Map<String, Object> answer(Object... regions) {
    return Map.of("server", Map.of("smallRegions", List.of(regions)));
  }

  static Map<String, Object> region(String guest, long region, long lacked) {
    return Map.of("guest", guest, "regionBytes", region, "lackedBytes", lacked, "at", AT);
  }

  @Test
  void itIsSaidWithTheSizeToSet() {
    assertThat(SmallRegion.of(answer(region("alice", 128 << 20, (300 << 20) - 5))))
        .singleElement()
        .hasToString(
            "guest alice: its region of 128MiB was too small: its programs had up to 300MiB more of"
                + " pinned and managed memory, which is copied more slowly (most at "
                + AT
                + "); set region: 1GiB in its vgpu, then apply");
  }

  @ParameterizedTest
  @CsvSource({
    "128MiB, 1MiB, 256MiB",
    "128MiB, 128MiB, 256MiB",
    "128MiB, 129MiB, 512MiB",
    "1GiB, 100MiB, 2GiB",
    "1TiB, 1TiB, 1TiB"
  })
  void theSizeToSetIsAPowerOfTwoWithRoom(String region, String lacked, String enough) {
    SmallRegion small =
        new SmallRegion(
            "alice", MemorySize.parse(region), MemorySize.parse(lacked), Instant.parse(AT));
    assertThat(small.enough()).hasToString(enough);
  }

  @Test
  void anythingElseThatAServerAnswersIsLeftOut() {
    Map<String, Object> text = Map.of("guest", 1, "regionBytes", "x", "lackedBytes", "y");
    Map<String, Object> never = Map.of("guest", "a", "regionBytes", 1L, "lackedBytes", 1L);
    assertThat(SmallRegion.of(answer("none", text, never, region("a", -1, 1), region("a", 1, 0))))
        .isEmpty();
    assertThat(SmallRegion.of(Map.of("server", Map.of("smallRegions", 7)))).isEmpty();
    assertThat(SmallRegion.of(Map.of())).isEmpty();
    SmallRegion large = SmallRegion.of(answer(region("e\u001b[2J", 1, Long.MAX_VALUE))).get(0);
    assertThat(large.enough()).isEqualTo(MemorySize.parse("1TiB"));
    assertThat(large.toString()).doesNotContain("\u001b");
  }
}
