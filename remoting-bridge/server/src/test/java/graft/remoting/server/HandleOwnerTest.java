package graft.remoting.server;

import static graft.remoting.server.CudaClient.with;
import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaResult;
import java.nio.file.Path;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A guest names objects that have ended with their owner. The driver may have given their handles
 * to other objects, or read freed memory. One of the devices refuses nothing itself.
 */
@Timeout(120)
class HandleOwnerTest {
  private static final int STREAM = 7;
  private static final int EVENT = 8;
  private static final int MODULE = 10;
  private static final int FUNCTION = 11;

  private static final String CODE =
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry f() { ret; }\n\0";

  @TempDir Path folder;

  private static int result(CudaClient client, String function, CudaClient.Parameters parameters)
      throws Exception {
    try {
      client.call(function, parameters);
      return CudaResult.SUCCESS;
    } catch (CudaClient.CudaError e) {
      return e.result;
    }
  }

  private static void load(CudaClient client) throws Exception {
    byte[] image = CODE.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    client.call("graftModuleLoad", with(MODULE, image.length, 0, 0, 0, 0, 0), image);
    client.call("graftModuleGetFunction", with(FUNCTION, MODULE).text("f").put(0).put(0).put(0));
  }

  private static int launch(CudaClient client) throws Exception {
    return result(
        client, "graftLaunch", with(FUNCTION, 1, 1, 1, 1, 1, 1, 0, 0).block(new byte[0]).put(0));
  }

  @ParameterizedTest
  @ValueSource(strings = {"willing", "software"})
  void whatADestroyedContextOwnedIsUnknown(String device) throws Exception {
    try (ServerFixture fixture = ServerFixture.start(folder, device, config -> config);
        CudaClient client = new CudaClient(fixture.alice()).retain()) {
      client.call("cuEventCreate", with(EVENT + 100, 0));
      client.call("graftContextCreate", with(2, 0, 0));
      client.context(2);
      client.call("cuStreamCreate", with(STREAM, 0));
      client.call("cuEventCreate", with(EVENT, 0));
      load(client);
      client.context(1);
      client.call("graftContextDestroy", with(2));
      assertThat(result(client, "cuStreamQuery", with(STREAM)))
          .isEqualTo(CudaResult.INVALID_HANDLE);
      assertThat(result(client, "cuStreamSynchronize", with(STREAM)))
          .isEqualTo(CudaResult.INVALID_HANDLE);
      assertThat(result(client, "cuEventQuery", with(EVENT)))
          .isEqualTo(CudaResult.CONTEXT_IS_DESTROYED);
      assertThat(launch(client)).isEqualTo(CudaResult.INVALID_HANDLE);
      assertThat(result(client, "cuModuleUnload", with(MODULE)))
          .isEqualTo(CudaResult.INVALID_HANDLE);
      // The ids are free again, and what another context owns is still there.
      client.call("cuEventCreate", with(EVENT, 0));
      client.call("cuEventQuery", with(EVENT + 100));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"willing", "software"})
  void theFunctionsOfAnUnloadedModuleAreUnknown(String device) throws Exception {
    try (ServerFixture fixture = ServerFixture.start(folder, device, config -> config);
        CudaClient client = new CudaClient(fixture.alice()).retain()) {
      load(client);
      assertThat(launch(client)).isZero();
      client.call("cuModuleUnload", with(MODULE));
      assertThat(launch(client)).isEqualTo(CudaResult.INVALID_HANDLE);
    }
  }

  /** A context that is still retained keeps its objects, and what they count. */
  @ParameterizedTest
  @ValueSource(strings = {"software"})
  void releasingOneOfTwoReferencesEndsNothing(String device) throws Exception {
    try (ServerFixture fixture = ServerFixture.start(folder, device, config -> config);
        CudaClient client = new CudaClient(fixture.bob()).retain()) {
      client.call("cuEventCreate", with(EVENT, 0));
      client.allocate(1 << 20); // all that bob may have
      for (int id = 20; id < 23; id++) {
        client.call("graftPrimaryContextRetain", with(id, 0, 0));
        client.call("graftPrimaryContextRelease", with(id, 0, 0));
        assertThat(result(client, "cuEventQuery", with(EVENT))).isZero();
        assertThat(result(client, "cuMemAlloc_v2", with(1, 1 << 20)))
            .as("the limit still holds")
            .isEqualTo(CudaResult.OUT_OF_MEMORY);
      }
    }
  }
}
