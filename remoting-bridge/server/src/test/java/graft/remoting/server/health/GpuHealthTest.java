package graft.remoting.server.health;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.server.control.DeviceSpec;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GpuHealthTest {
  private static final DeviceSpec ALL = DeviceSpec.parse("cuda");

  private final GpuHealthModel model = new GpuHealthModel(Optional.empty());
  private final GpuHealth health = model.health();

  private static DeviceSpec gpu(int index) {
    return ALL.withIndex(index);
  }

  @ParameterizedTest
  @ValueSource(longs = {13, 31, 43, 45, 94})
  void anErrorOfOneProgramIsCountedAndTheGpuStaysUsable(long xid) {
    model.xid(xid);
    model.xid(xid);
    assertThat(health.problem(ALL)).isEmpty();
    assertThat(health.gpus().get(0).xids()).isEqualTo(Map.of(xid, 2L));
  }

  @Test
  void aFatalErrorIsAProblemOfThatGpuAloneAndIsToldOnce() {
    List<String> told = new CopyOnWriteArrayList<>();
    health.start((uuid, problem) -> told.add(uuid + " " + problem));
    model.xid(79);
    model.xid(79);
    model.xid(48);
    String problem = "Xid 79, the GPU has fallen off the bus";
    assertThat(told).containsExactly(GpuHealthModel.FIRST + " " + problem);
    assertThat(health.problem(gpu(0))).contains(GpuHealthModel.FIRST + ": " + problem);
    assertThat(health.problem(ALL)).isPresent();
    assertThat(health.problem(gpu(1))).isEmpty();
    assertThat(health.gpus().get(0).isHealthy()).isFalse();
    assertThat(health.gpus().get(1).isHealthy()).isTrue();
  }

  @Test
  void aLostGpuHasAProblemAlsoWithoutAnError() {
    model.loseTheSecond();
    assertThat(health.problem(gpu(1))).hasValueSatisfying(p -> assertThat(p).contains("lost"));
    assertThat(health.problem(gpu(0))).isEmpty();
  }

  /** As by {@code device=1} in the tokens file of a server with {@code --device gpu:0}. */
  @Test
  void aGpuThatOnlyATokenNamesIsWatched() throws InterruptedException {
    GpuHealthModel other = new GpuHealthModel(Optional.empty(), gpu(0));
    BlockingQueue<String> told = new LinkedBlockingQueue<>();
    other.health().start((uuid, problem) -> told.add(uuid));
    assertThat(other.health().gpus()).extracting(GpuState::index).containsExactly(0);
    assertThat(other.health().problem(gpu(1))).isEmpty(); // a session begins
    assertThat(other.health().gpus()).extracting(GpuState::index).containsExactly(0, 1);
    other.loseTheSecond();
    assertThat(other.health().problem(gpu(1))).isPresent();
    assertThat(told.poll(60, TimeUnit.SECONDS)).isEqualTo(GpuHealthModel.SECOND);
  }

  @Test
  void aGpuThatNoSessionHasIsNotShown() {
    GpuHealthModel other = new GpuHealthModel(Optional.empty(), gpu(0));
    other.loseTheSecond();
    assertThat(other.health().gpus()).extracting(GpuState::index).containsExactly(0);
    assertThat(other.health().problem(gpu(1))).isPresent(); // it is refused all the same
  }

  @Test
  void anotherDriverIsAProblemOfAllGpus() {
    model.load("");
    assertThat(health.problem(gpu(0)))
        .contains(GpuHealthModel.FIRST + ": the driver has changed from 580.159.04 to none");
    assertThat(health.problem(gpu(1))).isPresent();
  }

  @Test
  void whatAGpuShowsIsReadEachTime() {
    model.load("580.159.04");
    GpuState second = health.gpus().get(1);
    assertThat(second.correctedErrors()).hasValue(3);
    assertThat(second.uncorrectedErrors()).hasValue(0);
    assertThat(second.slowed()).containsExactly(Slowdown.POWER_BRAKE);
    assertThat(health.gpus().get(0).correctedErrors()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "'1', 0, true",
    "'1', 1, false",
    "'0', 0, false",
    "'1,0', 0, true",
    "'1,0', 1, false",
    "'GPU-00000000-0000-0000-0000-000000000002', 0, true",
    "'GPU-00000000-0000-0000-0000-000000000001', 0, false",
    "'', 0, false",
    "'1', 7, false",
    "'-1', 0, false"
  })
  void anIndexCountsInTheVisibleDevices(String visible, int index, boolean isLost) {
    GpuHealthModel chosen = new GpuHealthModel(Optional.of(visible));
    chosen.loseTheSecond();
    assertThat(chosen.health().problem(gpu(index)).isPresent()).isEqualTo(isLost);
  }

  @Test
  void manyDifferentErrorsDoNotFillTheMemory() {
    for (int i = 1000; i < 2000; i++) {
      model.xid(i);
    }
    assertThat(health.gpus().get(0).xids()).hasSize(64);
  }

  @Test
  void anErrorOfAnUnknownGpuConcernsNone() {
    model.report("GPU-unknown", 79);
    assertThat(health.problem(ALL)).isEmpty();
  }

  @Test
  void slowdownsAreReadFromTheMaskAndIdleClocksAreNone() {
    assertThat(Slowdown.of(0x1 | 0x4)).isEmpty();
    assertThat(Slowdown.of(0x8 | 0x20 | 0x40 | 0x80)).containsExactly(Slowdown.values());
  }

  @Test
  void withoutADriverThereIsNoGpuAndNoProblem() {
    assertThat(GpuHealth.of(DeviceSpec.parse("software")).gpus()).isEmpty();
    assertThat(GpuHealth.none().problem(ALL)).isEmpty();
  }
}
