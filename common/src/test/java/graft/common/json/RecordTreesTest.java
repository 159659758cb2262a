package graft.common.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import graft.common.bind.Default;
import java.math.BigInteger;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RecordTreesTest {
  private static final RecordTrees TREES = new RecordTrees(Map.of(Duration.class, Duration::parse));

  private enum Kind {
    SMALL,
    LARGE
  }

  private record Inner(String name, List<Long> numbers) {}

  private record Later(String name, @Default("0.5") double share) {}

  @Test
  void aComponentWithADefaultMayBeAbsent() {
    assertThat(TREES.read(Later.class, Map.of("name", "a"))).isEqualTo(new Later("a", 0.5));
  }

  private record Outer(
      int count,
      double share,
      boolean set,
      Kind kind,
      Path path,
      Duration time,
      Optional<Inner> one,
      Optional<String> none,
      List<Inner> several,
      Map<String, Object> tree) {}

  private static Outer outer(double share) {
    Inner inner = new Inner("a", List.of(1L, Long.MIN_VALUE));
    return new Outer(
        7,
        share,
        true,
        Kind.LARGE,
        Path.of("/a/b"),
        Duration.ofSeconds(90),
        Optional.of(inner),
        Optional.empty(),
        List.of(inner, inner),
        Map.of("x", List.of(1L, "y")));
  }

  @Test
  void aRecordComesBackFromItsJsonAsItWas() throws Exception {
    for (double share : new double[] {0.1, 3, Double.NaN, Double.NEGATIVE_INFINITY}) {
      String json = Json.line(TREES.write(outer(share)));
      assertThat(TREES.read(Outer.class, Json.readObject(json))).isEqualTo(outer(share));
    }
  }

  @Test
  void aTypeOfItsOwnIsWrittenAsItsText() {
    assertThat(TREES.write(outer(1)))
        .containsEntry("time", "PT1M30S")
        .containsEntry("path", "/a/b")
        .containsEntry("kind", "LARGE")
        .doesNotContainKey("none");
  }

  @Test
  void whatDoesNotFitIsRefused() {
    for (Map<String, Object> wrong :
        List.<Map<String, Object>>of(
            Map.of("name", 5L, "numbers", List.of()),
            Map.of("name", "a", "numbers", List.of("5 ")),
            Map.of("name", "a", "numbers", List.of(1L, true)),
            Map.of("name", "a", "numbers", List.of(Map.of())),
            Map.of("numbers", List.of()))) {
      assertThatIllegalArgumentException().isThrownBy(() -> TREES.read(Inner.class, wrong));
    }
  }

  @Test
  void aNumberThatIsTooLargeForALongIsReadWhole() throws Exception {
    assertThat(Json.readObject("{\"a\": 99999999999999999999, \"b\": 9223372036854775807}"))
        .containsEntry("a", new BigInteger("99999999999999999999"))
        .containsEntry("b", Long.MAX_VALUE);
  }
}
