package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.audit.AuditLog;
import graft.remoting.server.health.GpuHealthModel;
import graft.remoting.server.operate.OperatorClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server whose GPU breaks. */
@Timeout(120)
class GpuProblemTest {
  @TempDir Path folder;

  @Test
  void sessionsOfABrokenGpuEndWithTheReasonAndNewOnesAreRefused() throws Exception {
    GpuHealthModel gpus = new GpuHealthModel(Optional.of("0"));
    Path audit = folder.resolve("audit.jsonl");
    Path socket = folder.resolve("operator.sock");
    String problem = GpuHealthModel.FIRST + ": Xid 79, the GPU has fallen off the bus";
    try (AuditLog log = AuditLog.open(audit.toString(), message -> {});
        ServerFixture fixture =
            ServerFixture.start(
                folder, "software", gpus.health(), config -> config.operator(socket).audit(log))) {
      try (CudaClient bob = new CudaClient(fixture.bob()).retain()) {
        gpus.xid(31); // another program's fault
        bob.allocate(4096);
        gpus.xid(79);
        assertThat(bob.wire.answer().toString()).isNotEmpty(); // why the session ends
        while (!Files.readString(audit).contains("session-end")) {
          TimeUnit.MILLISECONDS.sleep(10);
        }
      }
      assertThat(Files.readString(audit))
          .containsPattern("gpu-problem.*fallen off the bus")
          .contains("the GPU has a problem: " + problem);
      assertThatThrownBy(fixture::bob)
          .hasMessageContaining("the GPU takes no new sessions: " + problem);
      assertThat(OperatorClient.sessions(socket).get("server").toString())
          .contains("healthy=false", "problem=Xid 79", "xids={31=1, 79=1}");
    }
  }
}
