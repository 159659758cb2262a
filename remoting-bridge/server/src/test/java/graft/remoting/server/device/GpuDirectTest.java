package graft.remoting.server.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.device.Memory;
import graft.remoting.server.FakeCuda;
import graft.remoting.server.GpuWithRdma;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.system.ServerException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class GpuDirectTest {
  private static final long CONTEXT = 0xC0;

  private final FakeCuda fake = new FakeCuda();
  private final GpuWithRdma gpu = new GpuWithRdma(fake);
  private int trials;

  private boolean find(GpuDirect.Setting setting, String refusal) {
    GpuDirect.Trial trial =
        (memory, bytes, anyhow, reason, size) -> {
          trials++;
          try (Scratch current = new Scratch(8)) {
            fake.cuCtxGetCurrent(current.address());
            assertThat(Memory.getLong(current.address())).isEqualTo(CONTEXT);
            assertThat(fake.cuMemGetAddressRange_v2(current.address(), current.address(), memory))
                .isZero();
          }
          assertThat(anyhow).isEqualTo((byte) (setting == GpuDirect.Setting.ON ? 1 : 0));
          byte[] text = (refusal + "\0").getBytes(StandardCharsets.UTF_8);
          Memory.write(reason, text, 0, text.length);
          return (byte) (refusal.isEmpty() ? 1 : 0);
        };
    boolean found = GpuDirect.find(gpu, CONTEXT, setting, trial).isThere();
    try (Scratch current = new Scratch(8)) {
      fake.cuCtxGetCurrent(current.address());
      assertThat(Memory.getLong(current.address())).isZero();
    }
    return found;
  }

  @Test
  void isThereWhereGpuAndUcxHaveIt() {
    assertThat(find(GpuDirect.Setting.AUTO, "")).isTrue();
    assertThat(find(GpuDirect.Setting.AUTO, "no adapter")).isFalse();
    assertThat(trials).isEqualTo(2);
  }

  @Test
  void isNotTriedWhereTheGpuCannot() {
    gpu.supported = 0;
    assertThat(find(GpuDirect.Setting.AUTO, "")).isFalse();
    gpu.supported = 1;
    gpu.ordering = 0;
    gpu.flushOptions = 2;
    assertThat(find(GpuDirect.Setting.AUTO, "")).isFalse();
    assertThat(trials).isZero();
    gpu.flushOptions = 1;
    assertThat(find(GpuDirect.Setting.AUTO, "")).isTrue();
  }

  @Test
  void isTriedAnywhereWhereItIsAskedFor() {
    gpu.supported = 0;
    assertThat(find(GpuDirect.Setting.ON, "")).isTrue();
    assertThat(find(GpuDirect.Setting.ON, "UCX is built without CUDA")).isFalse();
    assertThat(find(GpuDirect.Setting.OFF, "")).isFalse();
    assertThat(trials).isEqualTo(2);
  }

  @Test
  void isOverOnceAClientComesWithoutAnAdapter() {
    GpuDirect.Trial works = (memory, bytes, anyhow, reason, size) -> 1;
    GpuDirect found = GpuDirect.find(gpu, CONTEXT, GpuDirect.Setting.AUTO, works);
    assertThat(found.connected(true).isThere()).isTrue();
    assertThat(found.connected(false).isThere()).isFalse();
    GpuDirect forced = GpuDirect.find(gpu, CONTEXT, GpuDirect.Setting.ON, works);
    assertThat(forced.connected(false).isThere()).isTrue();
    assertThat(GpuDirect.none().connected(true).isThere()).isFalse();
  }

  @Test
  void theSettingIsOneOfThree() throws ServerException {
    assertThat(GpuDirect.Setting.parse(null)).isEqualTo(GpuDirect.Setting.AUTO);
    assertThat(GpuDirect.Setting.parse("")).isEqualTo(GpuDirect.Setting.AUTO);
    assertThat(GpuDirect.Setting.parse("off")).isEqualTo(GpuDirect.Setting.OFF);
    assertThat(GpuDirect.Setting.parse("on")).isEqualTo(GpuDirect.Setting.ON);
    assertThatThrownBy(() -> GpuDirect.Setting.parse("yes"))
        .isInstanceOf(ServerException.class)
        .hasMessage("GRAFT_GPUDIRECT=yes: choose auto, on or off");
  }
}
