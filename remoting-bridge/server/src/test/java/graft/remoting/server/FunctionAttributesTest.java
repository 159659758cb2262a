package graft.remoting.server;

import static graft.remoting.server.CudaClient.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.device.CudaResult;
import graft.remoting.server.CudaClient.Parameters;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The attributes of functions, which a client gets together. */
@Timeout(120)
final class FunctionAttributesTest {
  private static final String ALL = "graftFunctionAttributes";
  private static final String GET = "graftModuleGetFunction_v2";

  /** As many attributes as a client asks for. */
  private static final int COUNT = 24;

  /** CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES. */
  private static final int MAX_DYNAMIC_SHARED = 8;

  private static final String PTX =
      ".version 7.8\n.target sm_90\n.address_size 64\n"
          + ".visible .entry store(.param .u64 p, .param .u32 value)\n"
          + ".maxntid 96, 1, 1\n{\n.shared .align 4 .b8 kept[1232]; .reg .u32 %r;\n"
          + "mov.u32 %r, kept; st.shared.u32 [%r], %r; ret;\n}\n\0";

  @TempDir Path folder;
  private ServerFixture fixture;
  private CudaClient client;

  /** A client with module 1, library 1 and function 1. */
  private void begin(String device) throws Exception {
    fixture = ServerFixture.start(folder, device, config -> config);
    client = new CudaClient(fixture.alice());
    byte[] image =
        (device.equals("fake") ? "good image\0" : PTX).getBytes(StandardCharsets.US_ASCII);
    client.async("graftLibraryLoad", with(1, image.length), image);
    client.retain();
    client.call("graftModuleLoad", with(1, image.length, 0, 0, 0, 0, 0), image);
    client.call("graftModuleGetFunction", with(1, 1).text("store").put(0).put(0).put(0));
  }

  @AfterEach
  void end() throws IOException {
    client.close();
    fixture.close();
  }

  private static Parameters get(int id, int count, int layout, int known, int values, int room) {
    Parameters p = with(id, 1).text("store").put(count).put(layout).put(4L * layout);
    return p.put(known).put(values).put(room);
  }

  /** The attributes in a reply: what the mask does not have is 0. */
  private static Map<Integer, Integer> attributes(ByteBuffer reply, int at, int count) {
    Map<Integer, Integer> found = new HashMap<>();
    for (int i = 0; i < count; i++) {
      int value = reply.getInt(at + 8 + 4 * i);
      if (i < Integer.SIZE && (reply.getInt(at) >>> i & 1) == 1) {
        found.put(i, value);
      } else {
        assertThat(value).as("attribute %d", i).isZero();
      }
    }
    return found;
  }

  private Map<Integer, Integer> all(long function) throws IOException {
    return attributes(client.call(ALL, with(function, 0).put(1).put(1).put(COUNT)), 0, COUNT);
  }

  private Map<Integer, Integer> oneByOne(long function) throws IOException {
    Map<Integer, Integer> found = new HashMap<>();
    for (int i = 0; i < COUNT; i++) {
      try {
        Parameters one = with(function, i, 0).put(1);
        found.put(i, client.call("graftFunctionGetAttribute", one).getInt(0));
      } catch (CudaClient.CudaError e) {
        assertThat(e.result).isEqualTo(CudaResult.INVALID_VALUE);
      }
    }
    return found;
  }

  @Test
  void theyAreWhatTheDeviceAnswersOneByOne() throws Exception {
    begin("software");
    ByteBuffer reply = client.call(GET, get(2, 1, 1, 1, 1, COUNT));
    assertThat(reply.getInt(0)).isEqualTo(2);
    Map<Integer, Integer> first = attributes(reply, 24, COUNT);
    assertThat(first).containsEntry(0, 96).containsEntry(1, 1232).hasSizeGreaterThan(10);
    assertThat(first).isEqualTo(oneByOne(2)).isEqualTo(all(2));
    client.async("graftFunctionSetAttribute", with(2, MAX_DYNAMIC_SHARED, 70_000, 0));
    Map<Integer, Integer> then = all(2);
    assertThat(then).containsEntry(MAX_DYNAMIC_SHARED, 70_000).isEqualTo(oneByOne(2));
    first.keySet().remove(MAX_DYNAMIC_SHARED);
    assertThat(then).containsAllEntriesOf(first);
  }

  @Test
  void aKernelHasThemToo() throws Exception {
    begin("software");
    ByteBuffer reply = client.call("graftLibraryGetKernel_v2", get(7, 0, 0, 1, 1, COUNT));
    assertThat(attributes(reply, 0, COUNT))
        .containsEntry(1, 1232)
        .isEqualTo(oneByOne(7))
        .isEqualTo(all(7));
  }

  @Test
  void whatTheDriverRefusesIsUnknown() throws Exception {
    begin("fake");
    Map<Integer, Integer> of = attributes(client.call(GET, get(2, 0, 0, 1, 1, COUNT)), 0, COUNT);
    assertThat(of).hasSize(15).doesNotContainKey(FakeCuda.REFUSED_ATTRIBUTE).containsEntry(6, 106);
    assertThat(of).isEqualTo(oneByOne(2));
  }

  /** A program may get a kernel before it has a context, and then on no device. */
  @Test
  void theyComeWithAKernelOnceThereIsAContext() throws Exception {
    begin("fake");
    client.context(0);
    ByteBuffer reply = client.call("graftLibraryGetKernel_v2", get(7, 1, 0, 1, 1, COUNT));
    assertThat(reply.getInt(0)).isEqualTo(2);
    assertThat(attributes(reply, 8, COUNT)).isEmpty();
    assertThat(all(7)).containsEntry(6, 206);
    client.context(1);
    reply = client.call("graftLibraryGetKernel_v2", get(8, 1, 0, 1, 1, COUNT));
    assertThat(attributes(reply, 8, COUNT)).containsEntry(6, 206);
  }

  /** A hostile client has no room for the answer, or wants more attributes than a mask has bits. */
  @Test
  void theRoomForThemIsTheClients() throws Exception {
    begin("fake");
    for (int room : new int[] {0, 2, 33, 1000}) {
      ByteBuffer reply = client.call(ALL, with(1, 0).put(1).put(1).put(room));
      assertThat(attributes(reply, 0, room)).hasSize(Math.min(room, 15));
      reply = client.call(GET, get(100 + room, 0, 0, 1, 1, room));
      assertThat(attributes(reply, 0, room)).hasSize(Math.min(room, 15));
    }
    for (Parameters nowhere :
        List.of(with(1, 0).put(0).put(1).put(COUNT), with(1, 0).put(1).put(0).put(COUNT))) {
      assertThatThrownBy(() -> client.call(ALL, nowhere))
          .isInstanceOfSatisfying(
              CudaClient.CudaError.class,
              e -> assertThat(e.result).isEqualTo(CudaResult.INVALID_VALUE));
    }
    // A function is wanted also by a client that does not want its attributes.
    client.call(GET, get(2, 0, 0, 0, 1, COUNT));
    client.call(GET, get(3, 0, 0, 1, 0, COUNT));
    assertThat(all(2)).isEqualTo(all(3)).hasSize(15);
  }

  @Test
  void roomThatNoReplyHasEndsTheSession() throws Exception {
    begin("fake");
    assertThatThrownBy(() -> client.call(ALL, with(1, 0).put(1).put(1).put(0xffff_ffffL)))
        .isInstanceOf(IOException.class)
        .isNotInstanceOf(CudaClient.CudaError.class);
  }
}
