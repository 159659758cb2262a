package graft.remoting.server.profile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class NumbersTest {
  private final Numbers numbers = new Numbers();

  static WorkRecord kernel(int correlation, long start, String name) {
    return new WorkRecord(
        correlation,
        WorkRecord.Kind.KERNEL,
        start,
        start + 10,
        0,
        name,
        List.of(1, 2, 3),
        List.of(4, 5, 6),
        List.of(7, 8, 9),
        24,
        0,
        (byte) 0,
        (byte) 0);
  }

  /** The numbers and beginnings that are given out, at most so many. */
  private List<String> given(int most) {
    List<String> given = new ArrayList<>();
    numbers.give(
        numbered ->
            given.size() < most && given.add(numbered.number() + " at " + numbered.work().start()));
    return given;
  }

  @Test
  void workAndNumberFindEachOtherInAnyOrder() {
    numbers.add(kernel(70, 1000, "a"));
    numbers.add(kernel(71, 2000, "b"));
    numbers.name(71, 5);
    assertThat(given(9)).containsExactly("5 at 2000");

    numbers.name(70, 4);
    numbers.add(kernel(71, 3000, "c"));
    assertThat(given(9)).containsExactly("4 at 1000", "5 at 3000");
    assertThat(given(9)).isEmpty();
  }

  @Test
  void whatTheReceiverDoesNotTakeStays() {
    numbers.name(70, 4);
    for (int i = 0; i < 5; i++) {
      numbers.add(kernel(70, i, "a"));
    }
    assertThat(given(2)).containsExactly("4 at 0", "4 at 1");
    assertThat(given(9)).containsExactly("4 at 2", "4 at 3", "4 at 4");
  }

  /** The server's own work has no number. */
  @Test
  void workWithoutANumberIsForgotten() {
    numbers.add(kernel(70, 1000, "a"));
    for (int i = 0; i < 100; i++) {
      assertThat(given(9)).isEmpty();
    }
    numbers.name(70, 4);
    assertThat(given(9)).isEmpty();
    assertThat(numbers.takeLost()).isZero();
  }

  /** A client that does not read cannot fill the worker's memory. */
  @Test
  void whatNobodyReadsIsLostAndCounted() {
    numbers.name(70, 4);
    for (int i = 0; i < Numbers.MOST + 3; i++) {
      numbers.add(kernel(70, i, "a"));
    }
    numbers.lose(2);
    assertThat(given(Integer.MAX_VALUE)).hasSize(Numbers.MOST);
    assertThat(numbers.takeLost()).isEqualTo(5);
    assertThat(numbers.takeLost()).isZero();
  }
}
