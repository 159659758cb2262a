package graft.remoting.server.session.call;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.Memory;
import graft.remoting.server.MemoryChannel;
import graft.remoting.server.exchange.GpuEngine;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class CallEngineTest {
  private static final int HAS_BULK = 2;

  private final Call call = new Call(new MemoryChannel(new Random(1)));

  private GpuEngine engine(int function, int flags) {
    long record = Memory.allocate(16);
    Memory.putInt(record, 16);
    Memory.putShort(record + 4, (short) function);
    Memory.putShort(record + 6, (short) flags);
    Memory.putLong(record + 8, 0);
    call.begin(record);
    Memory.free(record);
    return CallEngine.of(call);
  }

  private List<String> functions(GpuEngine engine) {
    return IntStream.range(0, Dispatcher.FUNCTIONS)
        .filter(Dispatcher::works)
        .filter(function -> engine(function, HAS_BULK) == engine)
        .mapToObj(Dispatcher::name)
        .toList();
  }

  @Test
  void copiesBetweenAHostAndTheDeviceHaveADirection() {
    assertThat(functions(GpuEngine.COPY_TO_DEVICE))
        .containsExactlyInAnyOrder(
            "graftWrite",
            "graftWriteKnown",
            "graftCopyFromRegion",
            "graftPeerReceive",
            "graftCopy3D");
    assertThat(functions(GpuEngine.COPY_FROM_DEVICE))
        .containsExactlyInAnyOrder(
            "graftRead", "graftReadAsync", "graftCopyToRegion", "graftPeerSend", "graftCopy3DRead");
  }

  @Test
  void everythingElseComputes() {
    assertThat(functions(GpuEngine.COMPUTE))
        .contains("graftLaunch", "cuGraphLaunch", "cuMemsetD8_v2", "cuMemcpyDtoDAsync_v2");
  }

  @Test
  void aPitchedCopyWithoutDataOfTheClientIsOneWithinTheDevice() {
    assertThat(engine(Dispatcher.number("graftCopy3D"), 0)).isEqualTo(GpuEngine.COMPUTE);
  }
}
