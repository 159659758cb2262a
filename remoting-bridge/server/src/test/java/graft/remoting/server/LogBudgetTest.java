package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.server.control.LogBudget;
import graft.remoting.server.control.WorkerLog;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** A guest gets no more of the log by starting many sessions. */
class LogBudgetTest {
  @Test
  void theWorkersOfAGuestShareItsBudget() {
    byte[] lines = ("x".repeat(99) + "\n").repeat(1_000).getBytes(StandardCharsets.US_ASCII);
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    LogBudget budget = new LogBudget();
    for (int worker = 0; worker < 20; worker++) {
      WorkerLog.run(
          new ByteArrayInputStream(lines),
          new PrintStream(log, true, StandardCharsets.UTF_8),
          "worker " + worker,
          () -> budget);
    }
    assertThat(log.size()).isBetween(60_000, 75_000);
    assertThat(budget.isFull()).isFalse();
    assertThat(new LogBudget().isFull()).isTrue();
  }
}
