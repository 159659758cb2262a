package graft.remoting.server.session.memory;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.Memory;
import graft.remoting.server.MemoryChannel;
import graft.remoting.server.device.GpuDirect;
import graft.remoting.server.exchange.GpuLease;
import graft.remoting.server.exchange.LeasePage;
import graft.remoting.server.exchange.SessionLimits;
import graft.remoting.server.session.Records;
import graft.remoting.server.session.Session;
import graft.remoting.server.session.SessionTerms;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A guest gets no work of the GPU by freeing memory while others want the GPU. */
class ErasureTest {
  private static final long MEMORY = 1L << 40;
  private static final long BYTES = 1 << 20;

  private final List<String> calls = new ArrayList<>();

  private Object answer(String name, Object... arguments) {
    calls.add(name);
    switch (name) {
      case "cuCtxGetCurrent" -> Memory.putLong((long) arguments[0], 1);
      case "cuMemAlloc_v2" -> Memory.putLong((long) arguments[0], MEMORY);
      case "cuMemGetInfo_v2" -> {
        Memory.putLong((long) arguments[0], 1L << 36);
        Memory.putLong((long) arguments[1], 1L << 37);
      }
      case "cuStreamCreate" -> Memory.putLong((long) arguments[0], 5);
      default -> {}
    }
    return 0;
  }

  private Session session(GpuLease lease) {
    CudaDevice device =
        (CudaDevice)
            Proxy.newProxyInstance(
                CudaDevice.class.getClassLoader(),
                new Class<?>[] {CudaDevice.class},
                (proxy, method, arguments) -> answer(method.getName(), arguments));
    SessionTerms all = SessionTerms.of(SessionLimits.NONE, 0);
    SessionTerms terms =
        new SessionTerms(
            all.name(),
            all.limits(),
            all.guest(),
            lease,
            all.reached(),
            all.spinMicros(),
            all.handles(),
            all.code(),
            all.data(),
            all.peers(),
            all.program());
    return new Session(device, new MemoryChannel(new Random(1)), terms, 1, false, GpuDirect.none());
  }

  private List<String> callsOfFreeing(GpuLease lease) throws IOException {
    Session session = session(lease);
    Records.send(session, "cuMemAlloc_v2", true, 1, BYTES);
    assertThat(calls).contains("cuMemAlloc_v2");
    calls.clear();
    Records.send(session, "cuMemFree_v2", false, MEMORY);
    return calls;
  }

  @Test
  void aloneASessionKeepsMemoryAndErasesIt() throws IOException {
    assertThat(callsOfFreeing(GpuLease.endless()))
        .contains("cuMemsetD8Async")
        .doesNotContain("cuMemFree_v2");
  }

  @ParameterizedTest
  @EnumSource(names = {"LITTLE", "LEAST"})
  void besideOthersTheDriverFreesIt(LeasePage.Queueing queueing) throws IOException {
    try (LeasePage page = LeasePage.create()) {
      page.grant(queueing);
      assertThat(callsOfFreeing(GpuLease.map(page.fd())))
          .contains("cuMemFree_v2")
          .doesNotContain("cuMemsetD8Async");
    }
  }

  @Test
  void outOfItsTurnTheDriverFreesIt() throws IOException {
    try (LeasePage page = LeasePage.create()) {
      assertThat(callsOfFreeing(GpuLease.map(page.fd())))
          .contains("cuMemFree_v2")
          .doesNotContain("cuMemsetD8Async");
    }
  }
}
