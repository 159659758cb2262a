package graft.common.bind;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SpellingTest {
  private static final List<String> KEYS = List.of("memory", "kernel", "networks");

  @Test
  void aSlipFindsItsWord() {
    assertThat(Spelling.nearest("memroy", KEYS)).contains("memory");
    assertThat(Spelling.nearest("network", KEYS)).contains("networks");
  }

  @Test
  void anotherWordFindsNone() {
    assertThat(Spelling.nearest("colour", KEYS)).isEmpty();
    assertThat(Spelling.hint("colour", KEYS)).isEqualTo("known: memory, kernel, networks");
  }

  @Test
  void aShortWordIsMeantOnlyByOneSlip() {
    assertThat(Spelling.nearest("ram", List.of("name"))).isEmpty();
    assertThat(Spelling.nearest("nmae", List.of("name"))).contains("name");
  }

  @Test
  void swappedNeighboursAreOneEdit() {
    assertThat(Spelling.distance("memroy", "memory")).isEqualTo(1);
  }
}
