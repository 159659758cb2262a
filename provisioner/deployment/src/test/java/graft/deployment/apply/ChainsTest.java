package graft.deployment.apply;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class ChainsTest {
  /** Whoever waits for a guest waits beside the others: ten guests take as long as one. */
  @Test
  void tenGuestsAreWaitedForAtOnce() throws Exception {
    CyclicBarrier allWait = new CyclicBarrier(10);
    List<Callable<Boolean>> chains = new ArrayList<>();
    for (int i = 0; i < allWait.getParties(); i++) {
      chains.add(() -> allWait.await(1, TimeUnit.MINUTES) >= 0);
    }
    assertThat(Chains.run(chains)).isTrue();
  }

  @Test
  void oneLaneThatFailsLeavesTheOthersToTheirEnd() throws Exception {
    List<String> ended = java.util.Collections.synchronizedList(new ArrayList<>());
    Callable<Boolean> fails = () -> false;
    Callable<Boolean> works = () -> ended.add("worked");
    assertThat(Chains.run(List.of(fails, works, works))).isFalse();
    assertThat(ended).hasSize(2);
  }
}
