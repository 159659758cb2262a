package graft.remoting.server;

import static graft.remoting.server.CudaClient.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.audit.AuditLog;
import graft.remoting.device.CudaResult;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * A guest that makes its worker hold as much memory of the host as it can: its session may hold 64
 * MiB. Each attack is one of the ways in which a record leads to memory that stays in use.
 */
@Timeout(300)
@Isolated("it counts the processes of this one")
class HostLimitTest {
  private static final int MIB = 1 << 20;
  private static final long LIMIT = 64 * MIB;

  /** A worker without a session needs some 150 MB, and the limit comes on top. */
  private static final long MOST_OF_A_WORKER = 400L * MIB;

  private static final int NON_BLOCKING = 1;

  @TempDir Path folder;
  private AuditLog audit;
  private ServerFixture fixture;
  private CudaClient client;

  @BeforeEach
  void start() throws Exception {
    audit = AuditLog.open(folder.resolve("audit.jsonl").toString(), message -> {});
    fixture = start("software");
    client = new CudaClient(fixture.alice()).retain();
  }

  private ServerFixture start(String device) throws Exception {
    return ServerFixture.start(
        folder,
        device,
        config -> config.limits(config.limits().withHostMemory(LIMIT)).audit(audit));
  }

  @AfterEach
  void stop() throws Exception {
    client.close();
    fixture.close();
    audit.close();
  }

  /** Waits until the session's limit has refused something. */
  private void awaitLimit() throws IOException {
    while (!Files.readString(folder.resolve("audit.jsonl"))
        .contains("the host memory of a session")) {
      Thread.onSpinWait();
    }
  }

  private static List<ProcessHandle> workers() {
    return ProcessHandle.current().descendants().toList();
  }

  /** The most memory that any worker has had resident, in bytes. */
  private static long peak() throws IOException {
    long most = 0;
    for (ProcessHandle worker : workers()) {
      for (String line : Files.readAllLines(Path.of("/proc/" + worker.pid() + "/status"))) {
        if (line.startsWith("VmHWM:")) {
          most = Math.max(most, Long.parseLong(line.replaceAll("\\D", "")) << 10);
        }
      }
    }
    return most;
  }

  private static int threads() throws IOException {
    int most = 0;
    for (ProcessHandle worker : workers()) {
      try (var tasks = Files.list(Path.of("/proc/" + worker.pid() + "/task"))) {
        most = Math.max(most, (int) tasks.count());
      }
    }
    return most;
  }

  /** Drops data and output until the reply of a call arrives; returns the reply's result. */
  private int answer(int slot) throws IOException {
    while (true) {
      WireClient.Answer answer = client.wire.answer();
      if (answer.kind() == 0 && answer.slot() == slot) {
        return answer.result();
      }
      if (answer.kind() == 1) {
        client.wire.receive((int) WireClient.little(24).put(answer.payload().array()).getLong(16));
      }
    }
  }

  private int result(String function, CudaClient.Parameters parameters) throws IOException {
    return answer(client.begin(function, parameters));
  }

  /** Work in stream 1 waits for this function of the client until {@link #release}. */
  private void hold(int identity) throws IOException {
    client.call("cuStreamCreate", with(1, NON_BLOCKING));
    client.begin("graftHostFunction", with(1, identity));
    // The reply, and the message that tells the client to run the function, in any order.
    assertThat(List.of(client.wire.answer().kind(), client.wire.answer().kind()))
        .containsExactlyInAnyOrder(0, 2);
  }

  private void release(int identity) throws IOException {
    client.async("graftHostFunctionDone", with(identity));
  }

  @Test
  void readsThatTheClientDoesNotReceiveAreRefused() throws Exception {
    int length = 16 * MIB;
    long memory = client.allocate(length);
    for (int i = 1; i <= 100; i++) {
      client.async("graftReadAsync", with(memory, length, 0, i));
    }
    awaitLimit();
    assertThat(result("graftContextSynchronize", with())).isEqualTo(CudaResult.OUT_OF_MEMORY);
    assertThat(peak()).isLessThan(MOST_OF_A_WORKER);
    assertThat(result("graftContextSynchronize", with())).isZero();
  }

  @Test
  void copiesBehindAHostFunctionThatDoesNotReturnAreRefused() throws Exception {
    byte[] data = new byte[4 * MIB];
    long memory = client.allocate(data.length);
    hold(7);
    for (int i = 0; i < 150; i++) {
      client.async("graftWrite", with(memory, data.length, 1), data);
    }
    release(7);
    assertThat(result("graftContextSynchronize", with())).isEqualTo(CudaResult.OUT_OF_MEMORY);
    assertThat(peak()).isLessThan(MOST_OF_A_WORKER);
  }

  @Test
  void anImageBeyondTheLimitIsRefused() {
    byte[] image = new byte[96 * MIB];
    assertThatThrownBy(
            () -> client.call("graftModuleLoad", with(1, image.length, 0, 0, 0, 0, 0), image))
        .hasMessage("CUresult " + CudaResult.OUT_OF_MEMORY);
  }

  @Test
  void linksThatAreNeverDestroyedAreRefusedAtSomeTime() throws Exception {
    try (ServerFixture willing = start("willing");
        CudaClient other = new CudaClient(willing.alice()).retain()) {
      for (int i = 1; i < 1_500; i++) {
        other.call("graftLinkCreate", with(i).block(new byte[0]).put(0));
      }
      assertThatThrownBy(
              () -> {
                for (int i = 1_500; i < 3_000; i++) {
                  other.call("graftLinkCreate", with(i).block(new byte[0]).put(0));
                }
              })
          .hasMessage("CUresult " + CudaResult.OUT_OF_MEMORY);
    }
  }

  @Test
  void objectsThatAreNeverDestroyedAreRefusedAtSomeTime() throws Exception {
    int last = (int) (LIMIT >> 10) + 1;
    client.createEvents(1, last - 1);
    assertThat(result("cuEventCreate", with(last, 0))).isEqualTo(CudaResult.OUT_OF_MEMORY);
    result("graftContextSynchronize", with()); // also returns the error of an earlier call
    assertThat(result("cuEventDestroy_v2", with(1))).isZero();
    assertThat(result("cuEventDestroy_v2", with(2))).isZero();
    assertThat(result("cuEventCreate", with(1, 0))).isZero();
    assertThat(peak()).isLessThan(MOST_OF_A_WORKER);
  }

  /** The driver has made the object before the id turns out to be taken. */
  @Test
  void objectsThatGetNoIdEndTheSession() {
    assertThatThrownBy(
            () -> {
              for (int i = 0; i < 2_000; i++) {
                result("cuEventCreate", with(5, 0));
              }
            })
        .isInstanceOfAny(EOFException.class, IOException.class);
  }

  @Test
  void thousandsOfWaitsShareThreads() throws Exception {
    hold(7);
    int waits = 4_000;
    for (int i = 0; i < waits; i++) {
      client.begin("cuStreamSynchronize", with(1));
    }
    // The executor goes on with other records meanwhile.
    long memory = client.allocate(64);
    assertThat(threads()).isLessThan(100);
    release(7);
    for (int i = 0; i < waits; i++) {
      WireClient.Answer answer = client.wire.answer();
      assertThat(List.of(answer.kind(), answer.result())).isEqualTo(List.of(0, 0));
    }
    client.call("cuMemFree_v2", with(memory));
  }

  @Test
  void waitsForAContextShareAThread() throws Exception {
    hold(7);
    int waits = 1_000;
    for (int i = 0; i < waits; i++) {
      client.begin("graftContextSynchronize", with());
    }
    client.allocate(64);
    assertThat(threads()).isLessThan(100);
    release(7);
    for (int i = 0; i < waits; i++) {
      assertThat(client.wire.answer().result()).isZero();
    }
  }

  /** Each line is 1 KiB: kernels print far more than is kept, and the client gets all of it. */
  @Test
  void whatKernelsPrintIsNotKept() throws Exception {
    int lines = 200_000;
    byte[] ptx = printing(lines).getBytes(StandardCharsets.US_ASCII);
    client.call("graftModuleLoad", with(1, ptx.length, 0, 0, 0, 0, 0), ptx);
    client.call("graftModuleGetFunction", with(2, 1).text("talk").put(0).put(0).put(0));
    client.launch(2, 0, new byte[0]);
    int slot = client.begin("graftContextSynchronize", with());
    long printed = 0;
    while (true) {
      WireClient.Answer answer = client.wire.answer();
      if (answer.kind() == 0 && answer.slot() == slot) {
        assertThat(answer.result()).isZero();
        break;
      }
      assertThat(answer.kind()).isEqualTo(5);
      printed +=
          WireClient.little(answer.payload().array().length)
              .put(answer.payload().array())
              .getLong(8);
    }
    assertThat(printed).isEqualTo(lines * 1024L);
    assertThat(peak()).isLessThan(MOST_OF_A_WORKER - LIMIT);
  }

  private static String printing(int lines) {
    String text = String.join(", ", Collections.nCopies(1023, "120")) + ", 10, 0";
    return """
    .version 7.0
    .target sm_70
    .address_size 64
    .extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 values);
    .global .align 1 .b8 line[1025] = {%s};
    .visible .entry talk()
    {
      .reg .pred %%p<2>;
      .reg .b32 %%r<4>;
      .reg .b64 %%rd<4>;
      mov.u32 %%r1, 0;
    again:
      mov.u64 %%rd1, line;
      cvta.global.u64 %%rd2, %%rd1;
      mov.u64 %%rd3, 0;
      {
        .param .b64 format;
        st.param.b64 [format+0], %%rd2;
        .param .b64 values;
        st.param.b64 [values+0], %%rd3;
        .param .b32 result;
        call.uni (result), vprintf, (format, values);
        ld.param.b32 %%r2, [result+0];
      }
      add.u32 %%r1, %%r1, 1;
      setp.lt.u32 %%p1, %%r1, %d;
      @%%p1 bra again;
      ret;
    }
    """
        .formatted(text, lines);
  }
}
