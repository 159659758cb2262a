package graft.remoting.server.session.state;

import static graft.remoting.server.exchange.GpuEngine.COMPUTE;
import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.server.exchange.LeasePage;
import org.junit.jupiter.api.Test;

/** The streams that the meter marks: the legacy one among others, and those that are destroyed. */
final class GpuMeterStreamsTest extends GpuMeterFixture {
  private static final long LEGACY = 0;

  private void launch(long stream) {
    meter.beginCall(context, COMPUTE);
    meter.names(stream);
    device.queue(stream);
    meter.endCall(stream);
  }

  @Test
  void theLegacyStreamIsMarkedBeforeAnotherStreamIsNamed() {
    launch(LEGACY);
    meter.names(LEGACY);
    assertThat(device.records()).isZero();
    meter.names(STREAM);
    assertThat(device.records()).isEqualTo(1);
  }

  @Test
  void workBehindThatMarkerIsMeasuredToo() {
    launch(LEGACY);
    launch(STREAM);
    device.finish(LEGACY);
    clock.set(1000);
    meter.mark();
    assertThat(device.records()).isEqualTo(2);
    clock.set(4000);
    assertThat(page.isRunning()).isTrue();
    device.finish(STREAM);
    await(() -> !page.isRunning());
    assertThat(page.used()).isEqualTo(4000);
  }

  /** The driver ends a process that names a stream which is no more. */
  @Test
  void streamsThatAreDestroyedAreNotNamedAgain() {
    launch(LEGACY);
    launch(STREAM);
    destroy(STREAM);

    page.grant(LeasePage.Queueing.LITTLE);
    meter.beginCall(context, COMPUTE);
    device.queue(OTHER);
    device.finish(OTHER);
    meter.finished(context, OTHER); // a copy that the call has waited for
    meter.endCall(OTHER);
    destroy(OTHER);

    launch(LEGACY);
    meter.mark();
  }

  private void destroy(long stream) {
    meter.mark();
    meter.forget(stream);
    device.gone.add(stream);
  }
}
