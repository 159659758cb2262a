package graft.remoting.server.accept;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RefusalBudgetTest {
  private static final long SECOND = 1_000_000_000L;

  private final RefusalBudget budget = new RefusalBudget();

  @Test
  void eachSourceCountsByItselfAndAnewAfterASecond() {
    assertThat(budget.count("a", 0)).isEqualTo(1);
    assertThat(budget.count("a", SECOND - 1)).isEqualTo(2);
    assertThat(budget.count("b", SECOND - 1)).isEqualTo(1);
    assertThat(budget.count("a", SECOND)).isEqualTo(1);
  }

  @Test
  void sourcesBeyondTheLimitShareOneBudget() {
    for (int i = 0; i < RefusalBudget.MAX_SOURCES; i++) {
      assertThat(budget.count("source " + i, 0)).isEqualTo(1);
    }
    assertThat(budget.count("new", 1)).isEqualTo(1);
    assertThat(budget.count("newer", 1)).isEqualTo(2);
    assertThat(budget.count("source 0", 1)).isEqualTo(2);
  }

  @Test
  void sourcesOfThePastMakeRoom() {
    for (int i = 0; i < RefusalBudget.MAX_SOURCES; i++) {
      budget.count("source " + i, 0);
    }
    assertThat(budget.count("new", SECOND)).isEqualTo(1);
    assertThat(budget.count("newer", SECOND)).isEqualTo(1);
  }
}
