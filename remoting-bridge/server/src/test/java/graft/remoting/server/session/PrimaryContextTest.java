package graft.remoting.server.session;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.MemoryChannel;
import graft.remoting.server.device.GpuDirect;
import graft.remoting.server.exchange.SessionLimits;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** How often a GPU's primary context is made for a session, which takes long. */
final class PrimaryContextTest {
  private static final int SNAPSHOT = 4096;
  private static final int CONTEXT = 1; // the client's number for it

  private int references;
  private int made;

  private int answer(String name, Object... arguments) {
    switch (name) {
      case "cuDeviceGetCount" -> Memory.putInt((long) arguments[0], 2);
      case "cuDeviceGet" -> Memory.putInt((long) arguments[0], (int) arguments[1]);
      case "cuDevicePrimaryCtxGetState" -> {
        Memory.putInt((long) arguments[1], 0);
        Memory.putInt((long) arguments[2], references > 0 ? 1 : 0);
      }
      case "cuDevicePrimaryCtxRetain" -> {
        Memory.putLong((long) arguments[0], 7);
        made += references == 0 ? 1 : 0;
        references++;
      }
      case "cuDevicePrimaryCtxRelease_v2" -> references--;
      default -> {}
    }
    return CudaResult.SUCCESS;
  }

  private Session session(long warmContexts) {
    CudaDevice device =
        (CudaDevice)
            Proxy.newProxyInstance(
                CudaDevice.class.getClassLoader(),
                new Class<?>[] {CudaDevice.class},
                (proxy, method, arguments) -> answer(method.getName(), arguments));
    return new Session(
        device,
        new MemoryChannel(new Random(1)),
        SessionTerms.of(SessionLimits.NONE, 0),
        warmContexts,
        false,
        GpuDirect.none());
  }

  private void describe(Session session, int device) throws IOException {
    Records.send(session, "graftSnapshot", true, device, 1, SNAPSHOT);
  }

  private void use(Session session, int device) throws IOException {
    Records.send(session, "graftPrimaryContextRetain", true, CONTEXT, device, 0);
  }

  @Test
  void theContextOfTheFirstGpuIsMadeOnceIfTheWorkerMadeNone() throws IOException {
    Session session = session(0);
    describe(session, 0);
    use(session, 0);
    assertThat(made).isEqualTo(1);
    assertThat(references).as("the program's own").isEqualTo(1);
    Records.send(session, "graftPrimaryContextRelease", true, CONTEXT, 0, 0);
    assertThat(references).isZero();
  }

  @Test
  void aContextThatTheWorkerHasMadeIsTheClients() throws IOException {
    Session session = session(1);
    references = 1;
    describe(session, 0);
    use(session, 0);
    assertThat(made).isZero();
    assertThat(references).isEqualTo(1);
  }

  @Test
  void ofAnotherGpuThatIsOnlyDescribedNoContextStays() throws IOException {
    Session session = session(1);
    references = 0;
    describe(session, 1);
    assertThat(references).isZero();
  }
}
