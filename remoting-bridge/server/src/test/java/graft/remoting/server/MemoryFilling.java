package graft.remoting.server;

import static graft.remoting.server.CudaClient.with;

import java.io.IOException;
import java.util.function.BooleanSupplier;

/** A session that keeps its device busy: it fills memory, over and over. */
final class MemoryFilling {
  private static final long BYTES = 64 << 20;

  private MemoryFilling() {}

  /**
   * Works until it is over.
   *
   * @param queued the calls of a round, after which it waits
   * @param round runs after each round
   */
  static void run(WireClient wire, int queued, BooleanSupplier isOver, Runnable round) {
    try (CudaClient client = new CudaClient(wire).retain()) {
      long memory = client.allocate(BYTES);
      while (!isOver.getAsBoolean()) {
        for (int i = 0; i < queued; i++) {
          client.async("cuMemsetD8_v2", with(memory, i, BYTES));
        }
        client.call("graftContextSynchronize", with());
        round.run();
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
