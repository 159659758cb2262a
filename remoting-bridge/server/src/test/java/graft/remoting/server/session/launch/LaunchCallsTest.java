package graft.remoting.server.session.launch;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.code.KernelParameters;
import graft.remoting.server.system.Scratch;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The questions about clusters of every width, and what a client could ask instead; cooperative
 * launches, whose parameters the driver takes by pointers in a capture.
 */
final class LaunchCallsTest {
  private static final int ATTRIBUTE = 72;
  private static final int REFUSED = 912;
  private static final int COOPERATIVE = 2;

  /** A driver that says which grid and which cluster it was asked about, and how often. */
  private static final class Driver extends DriverWithKernels {
    int questions;
    boolean captures = true;
    final List<String> launches = new ArrayList<>();

    @Override
    public int cuStreamIsCapturing(long stream, long status) {
      Memory.putInt(status, captures ? 1 : 0);
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuLaunchCooperativeKernel(
        long function,
        int gridX,
        int gridY,
        int gridZ,
        int blockX,
        int blockY,
        int blockZ,
        int sharedBytes,
        long stream,
        long parameters) {
      long first = Memory.getLong(Memory.getLong(parameters));
      int second = Memory.getInt(Memory.getLong(parameters + 8));
      launches.add("cooperative " + gridX + " " + stream + ": " + first + ", " + second);
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuLaunchKernelEx(long config, long function, long parameters, long extra) {
      launches.add("attributes " + Memory.getLong(config + 48));
      return CudaResult.SUCCESS;
    }

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
  private final LaunchCalls calls = new LaunchCalls(driver, new KernelParameters(driver, Set.of()));

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

  /**
   * Launches a kernel with these attributes. The record has so many of the twelve bytes of its
   * parameters.
   */
  private int launch(int[] attributes, int parameterBytes) {
    try (Scratch its = new Scratch((long) ATTRIBUTE * attributes.length);
        Scratch parameters = new Scratch(12)) {
      for (int i = 0; i < attributes.length; i++) {
        Memory.putInt(its.address() + (long) ATTRIBUTE * i, attributes[i]);
        Memory.putInt(its.address() + (long) ATTRIBUTE * i + 8, 1);
      }
      Memory.putLong(parameters.address(), 41);
      Memory.putInt(parameters.address() + 8, 42);
      return calls.graftLaunchEx(
          null,
          1,
          7,
          1,
          1,
          32,
          1,
          1,
          0,
          3,
          its.address(),
          attributes.length,
          parameterBytes == 0 ? 0 : parameters.address(),
          parameterBytes);
    }
  }

  @Test
  void aCooperativeLaunchInACaptureHasItsParametersByPointers() {
    assertThat(launch(new int[] {COOPERATIVE}, 12)).isZero();
    assertThat(driver.launches).containsExactly("cooperative 7 3: 41, 42");
  }

  @Test
  void withoutACaptureItsParametersArePacked() {
    driver.captures = false;
    assertThat(launch(new int[] {COOPERATIVE}, 12)).isZero();
    assertThat(driver.launches).containsExactly("attributes 1");
  }

  @Test
  void withOtherAttributesItsParametersArePacked() {
    assertThat(launch(new int[] {COOPERATIVE, 4}, 12)).isZero();
    assertThat(launch(new int[] {4}, 12)).isZero();
    assertThat(driver.launches).containsExactly("attributes 2", "attributes 1");
  }

  @Test
  void noPointerLeadsBeyondTheParametersThatWereSent() {
    for (int bytes : new int[] {0, 8, 11, -1, Integer.MIN_VALUE}) {
      driver.launches.clear();
      assertThat(launch(new int[] {COOPERATIVE}, bytes)).isZero();
      assertThat(driver.launches).as("%d bytes", bytes).containsExactly("attributes 1");
    }
  }

  @Test
  void aDriverThatDoesNotKnowTheParametersGetsThemPacked() {
    driver.knowsParameters = false;
    assertThat(launch(new int[] {COOPERATIVE}, 12)).isZero();
    assertThat(driver.launches).containsExactly("attributes 1");
  }
}
