package graft.remoting.server.session.launch;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Scratch;
import org.junit.jupiter.api.Test;

/** The questions about clusters of every width, and what a client could ask instead. */
final class LaunchCallsTest {
  private static final int ATTRIBUTE = 72;
  private static final int REFUSED = 912;

  /** A driver that says which grid and which cluster it was asked about, and how often. */
  private static final class Driver implements CudaDevice {
    int questions;

    @Override
    public int cuOccupancyMaxActiveClusters(long clusters, long function, long config) {
      questions++;
      long attributes = Memory.getLong(config + 40);
      int width = Memory.getInt(attributes + ATTRIBUTE + 8);
      Memory.putInt(clusters, 1000 * Memory.getInt(config) + width);
      return width == 3 ? REFUSED : CudaResult.SUCCESS;
    }
  }

  private final Driver driver = new Driver();
  private final LaunchCalls calls = new LaunchCalls(driver);

  private int ask(long attributes, int attributeCount, long errors, long values, int count) {
    return calls.graftOccupancyClusters_v2(
        null, 1, 1, 1, 32, 1, 1, 0, attributes, attributeCount, 0, errors, values, count);
  }

  @Test
  void everyWidthIsAskedWithItsGridAndHasItsOwnError() {
    try (Scratch attributes = new Scratch(2 * ATTRIBUTE);
        Scratch answers = new Scratch(2 * 32 * 4)) {
      Memory.putInt(attributes.address() + ATTRIBUTE, 4);
      long errors = answers.address();
      long values = errors + 4 * 32;
      assertThat(ask(attributes.address(), 2, errors, values, 32)).isZero();
      assertThat(driver.questions).isEqualTo(32);
      for (int width = 1; width <= 32; width++) {
        long at = 4L * (width - 1);
        assertThat(Memory.getInt(errors + at)).isEqualTo(width == 3 ? REFUSED : 0);
        assertThat(Memory.getInt(values + at)).isEqualTo(1001 * width);
      }
    }
  }

  @Test
  void withoutClustersItIsAboutTheGrid() {
    try (Scratch attributes = new Scratch(2 * ATTRIBUTE);
        Scratch answers = new Scratch(2 * 4 * 4)) {
      long errors = answers.address();
      assertThat(ask(attributes.address(), 2, errors, errors + 16, 4)).isZero();
      for (int i = 0; i < 4; i++) {
        assertThat(Memory.getInt(errors + 16 + 4L * i)).isEqualTo(1000 * (i + 1));
      }
    }
  }

  @Test
  void aQuestionAboutTooManyWidthsIsRefused() {
    try (Scratch attributes = new Scratch(ATTRIBUTE);
        Scratch answers = new Scratch(2 * 64 * 4)) {
      long its = attributes.address();
      long errors = answers.address();
      long values = errors + 4 * 64;
      Memory.putInt(its, 4);
      for (int count : new int[] {0, -1, 65, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
        assertThat(ask(its, 1, errors, values, count)).isEqualTo(CudaResult.INVALID_VALUE);
      }
      assertThat(ask(its, 1, 0, values, 1)).isEqualTo(CudaResult.INVALID_VALUE);
      assertThat(ask(its, 1, errors, 0, 1)).isEqualTo(CudaResult.INVALID_VALUE);
      assertThat(driver.questions).isZero();
    }
  }
}
