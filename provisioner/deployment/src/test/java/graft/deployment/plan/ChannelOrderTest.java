package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.json.Json;
import graft.deployment.apply.Steps;
import graft.deployment.state.ChannelMeasurement;
import graft.deployment.state.ChannelMeasurement.Figures;
import graft.deployment.state.ChannelMeasurement.Speed;
import graft.deployment.step.Step;
import graft.deployment.step.StepCodec;
import graft.deployment.step.guest.OrderChannels;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a measurement of a guest's channels makes of the plan. */
class ChannelOrderTest {
  private static final String KERNEL =
      """
      graft: 1
      name: lab
      gpus: [{name: gpu0, device: software}]
      guests:
        - name: alice
          kernel: {image: vmlinuz, initramfs: initramfs.cpio}
          vgpu: {gpu: gpu0}
      """;
  private static final String IMAGE =
      """
      graft: 1
      name: lab
      gpus: [{name: gpu0, device: software}]
      guests:
        - name: alice
          image: debian.qcow2
          vgpu: {gpu: gpu0}
      """;
  private static final String FIRST = "2026-01-02T03:04:05Z";
  private static final String SECOND = "2026-02-02T03:04:05Z";
  private static final String IVSHMEM = "ivshmem://10.0.2.2:8692";
  private static final String VSOCK = "vsock://2:8692";
  private static final String TCP = "tcp://10.0.2.2:8692";

  private final FakeHost host =
      new FakeHost().file("/d/vmlinuz").file("/d/initramfs.cpio").file("/d/debian.qcow2");

  private static Figures takes(String address, double time) {
    return new Figures(address, Optional.of(new Speed(time / 8, 1e12, 1e12)));
  }

  /** As verify --channels would have measured the guest that is applied. */
  private void measure(String when, Figures... channels) {
    host.measured(
        "alice",
        new ChannelMeasurement(
            Instant.parse(when), ChannelBasis.of(host.steps("alice")), List.of(channels)));
  }

  private void tcpIsFaster() {
    measure(FIRST, takes(IVSHMEM, 500), takes(TCP, 100));
  }

  private List<String> actions(String descriptor) throws Exception {
    return host.plan(descriptor).actions().stream().map(Action::toString).toList();
  }

  private ChannelChoice choice(String descriptor) throws Exception {
    return host.plan(descriptor).channels().get(0);
  }

  private static String order(String... addresses) {
    return "let its client try " + String.join(", ", addresses) + " in this order";
  }

  @Test
  void withoutAMeasurementTheOrderIsTheUsualOne() throws Exception {
    host.carryOut(host.plan(KERNEL));
    assertThat(actions(KERNEL)).isEmpty();
    assertThat(choice(KERNEL).order()).containsExactly(IVSHMEM, TCP);
    assertThat(choice(KERNEL).reason())
        .isEqualTo("the usual order; graft verify --channels lab alice measures them");
    assertThat(host.plan(KERNEL).toText()).doesNotContain("channels of alice");
  }

  @ParameterizedTest
  @ValueSource(strings = {KERNEL, IMAGE})
  void aMeasurementReordersARunningGuestWithoutANewStart(String descriptor) throws Exception {
    host.carryOut(host.plan(descriptor));
    tcpIsFaster();
    Plan plan = host.plan(descriptor);
    assertThat(plan.actions())
        .extracting(Action::toString)
        .containsExactly("+ " + order(TCP, IVSHMEM), "+ run a CUDA program in it");
    assertThat(plan.toText())
        .contains(
            "note: channels of alice: tcp://10.0.2.2:8692 (round trip 12.5 us, 1000000000000"
                + " MB/s to the device, 1000000000000 MB/s from it: 100 us), ivshmem://10.0.2.2:8692")
        .contains(
            "; the fastest first by the time of 8 round trips and 1 MB each way, measured at "
                + FIRST
                + "\n");
    host.carryOut(plan);
    assertThat(actions(descriptor)).isEmpty();
  }

  @Test
  void aGuestThatIsNotVerifiedIsReorderedToo() throws Exception {
    String unproven = KERNEL + "    ready: {verify: false}\n";
    host.carryOut(host.plan(unproven));
    tcpIsFaster();
    assertThat(actions(unproven)).containsExactly("+ " + order(TCP, IVSHMEM));
  }

  @Test
  void noiseChangesNothing() throws Exception {
    host.carryOut(host.plan(KERNEL));
    measure(FIRST, takes(IVSHMEM, 124), takes(TCP, 100));
    assertThat(actions(KERNEL)).isEmpty();
    assertThat(choice(KERNEL).reason())
        .startsWith("the usual order, as none is faster by the time of 8 round trips");
  }

  @Test
  void whatDoesNotWorkIsTriedLast(@TempDir Path folder) throws Exception {
    host.vsock(folder).carryOut(host.plan(KERNEL));
    String shared = "ivshmem+" + VSOCK;
    measure(
        FIRST,
        new Figures(shared, Optional.empty()),
        takes(IVSHMEM, 300),
        takes(VSOCK, 100),
        takes(TCP, 200));
    assertThat(choice(KERNEL).usual()).containsExactly(shared, IVSHMEM, VSOCK, TCP);
    assertThat(choice(KERNEL).order()).containsExactly(VSOCK, TCP, IVSHMEM, shared);
    assertThat(choice(KERNEL).toString()).contains(shared + " (does not work)");
  }

  @Test
  void aLaterMeasurementThatSpeaksForTheUsualOrderBringsItBack() throws Exception {
    host.carryOut(host.plan(KERNEL));
    tcpIsFaster();
    host.carryOut(host.plan(KERNEL));
    measure(SECOND, takes(TCP, 500), takes(IVSHMEM, 100));
    assertThat(actions(KERNEL))
        .containsExactly("+ " + order(IVSHMEM, TCP) + " (changed)", "+ run a CUDA program in it");
    host.carryOut(host.plan(KERNEL));
    assertThat(actions(KERNEL)).isEmpty();
  }

  @Test
  void aMeasurementOfAGuestThatHasItsOrderIsNoReasonToDoItAgain() throws Exception {
    host.carryOut(host.plan(KERNEL));
    tcpIsFaster();
    host.carryOut(host.plan(KERNEL));
    measure(SECOND, takes(TCP, 110), takes(IVSHMEM, 500));
    assertThat(actions(KERNEL)).isEmpty();
  }

  @Test
  void aGuestThatLostItsOrderGetsItAgain() throws Exception {
    host.carryOut(host.plan(KERNEL));
    tcpIsFaster();
    host.carryOut(host.plan(KERNEL));
    measure(SECOND, takes(IVSHMEM, 500), takes(TCP, 100)); // it started again from its initramfs
    assertThat(actions(KERNEL)).contains("+ " + order(TCP, IVSHMEM) + " (changed)");
    host.carryOut(host.plan(KERNEL));
    assertThat(actions(KERNEL)).isEmpty();
  }

  @Test
  void anOrderThatAnUndoLeftInAGuestIsPutRight() throws Exception {
    host.carryOut(host.plan(KERNEL));
    measure(FIRST, takes(TCP, 500), takes(IVSHMEM, 100));
    assertThat(actions(KERNEL)).contains("+ " + order(IVSHMEM, TCP));
    host.carryOut(host.plan(KERNEL));
    assertThat(actions(KERNEL)).isEmpty();
  }

  @Test
  void otherAddressesInTheGuestAreSomebodyElsesDoing() throws Exception {
    host.carryOut(host.plan(KERNEL));
    measure(FIRST, takes("tcp://10.9.9.9:1", 100));
    assertThat(actions(KERNEL)).isEmpty();
  }

  @Test
  void aGuestThatIsStartedAgainGetsItsOrderAgain() throws Exception {
    host.carryOut(host.plan(KERNEL));
    tcpIsFaster();
    host.carryOut(host.plan(KERNEL)).off("alice");
    assertThat(host.plan(KERNEL).actions())
        .extracting(action -> action.step().name())
        .containsExactly("start", "ready", "channels", "verify");
  }

  @Test
  void aMeasurementOfOtherChannelsDoesNotCount() throws Exception {
    host.carryOut(host.plan(KERNEL));
    tcpIsFaster();
    host.carryOut(host.plan(KERNEL));
    String larger = KERNEL.replace("gpu: gpu0}", "gpu: gpu0, region: 256MiB}");
    ChannelChoice choice = choice(larger);
    assertThat(choice.order()).containsExactly(IVSHMEM, TCP);
    assertThat(choice)
        .hasToString(
            "channels of alice: ivshmem://10.0.2.2:8692, tcp://10.0.2.2:8692; the usual order: what"
                + " was measured at 2026-01-02T03:04:05Z is out of date (no more a region of"
                + " 128MiB, new: a region of 256MiB); graft verify --channels lab alice measures"
                + " again");
    host.carryOut(host.plan(larger));
    assertThat(host.steps("alice"))
        .filteredOn(OrderChannels.class::isInstance)
        .extracting(step -> ((OrderChannels) step).order())
        .containsExactly(List.of(IVSHMEM, TCP));
    assertThat(actions(larger)).isEmpty();
    assertThat(host.plan(larger).toText()).contains("is out of date");
  }

  @Test
  void aChannelThatTheUserNamesIsNotReordered(@TempDir Path folder) throws Exception {
    String only = KERNEL.replace("gpu: gpu0}", "gpu: gpu0, channel: ivshmem}");
    host.vsock(folder).carryOut(host.plan(only));
    measure(FIRST, takes("ivshmem+" + VSOCK, 500), takes(IVSHMEM, 100));
    assertThat(actions(only)).isEmpty();
    assertThat(choice(only).order()).containsExactly("ivshmem+" + VSOCK, IVSHMEM);
    assertThat(choice(only).reason()).isEqualTo("it has no other channel");
  }

  @Test
  void aChannelThatIsNamedLaterTakesTheOrderAway() throws Exception {
    host.carryOut(host.plan(KERNEL));
    tcpIsFaster();
    host.carryOut(host.plan(KERNEL));
    String only = KERNEL.replace("gpu: gpu0}", "gpu: gpu0, channel: tcp}");
    assertThat(choice(only).order()).containsExactly(TCP);
    host.carryOut(host.plan(only));
    assertThat(actions(only)).isEmpty();
  }

  @Test
  void aGuestThatNobodyWaitsForKeepsTheUsualOrder() throws Exception {
    String off = KERNEL + "    ready: {when: off}\n";
    host.carryOut(host.plan(off));
    tcpIsFaster();
    assertThat(actions(off)).isEmpty();
    assertThat(choice(off).reason()).contains("graft does not wait for the guest");
  }

  @Test
  void programsAreToldTheOrderAndItsReason() throws Exception {
    host.carryOut(host.plan(KERNEL));
    tcpIsFaster();
    Map<String, Object> tree = Json.readObject(Json.line(host.plan(KERNEL).toTree()));
    assertThat((List<?>) tree.get("channels"))
        .singleElement()
        .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.MAP)
        .containsEntry("guest", "alice")
        .containsEntry("order", List.of(TCP, IVSHMEM))
        .containsEntry("usual", List.of(IVSHMEM, TCP))
        .containsEntry("by", "measured")
        .containsKeys("reason", "measured");
  }

  @Test
  void theJournalKeepsTheStep() throws Exception {
    host.carryOut(host.plan(KERNEL));
    tcpIsFaster();
    Step step = host.plan(KERNEL).actions().get(0).step();
    assertThat(Steps.CODEC.read(Steps.CODEC.id(step), StepCodec.write(step))).isEqualTo(step);
  }
}
