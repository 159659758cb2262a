package graft.provisioner.step.host;

import static org.assertj.core.api.Assertions.assertThat;

import graft.provisioner.values.Endpoint;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What the server of a GPU is started with. */
class StartServerTest {
  private static final String MIG = "MIG-9f2a5e7c-0f8e-5e52-9e0c-3a7c1a2b3c4d";

  @Test
  void aMigInstanceIsTheOnlyDeviceThatItsServerSees() {
    ProcessBuilder program = server(MIG).program();
    assertThat(program.environment()).containsEntry("CUDA_VISIBLE_DEVICES", MIG);
    assertThat(program.command()).containsSequence("--device", "gpu").doesNotContain(MIG);
  }

  @Test
  void anotherDeviceIsNamedToTheServer() {
    ProcessBuilder program = server("gpu:1").program();
    assertThat(program.environment().get("CUDA_VISIBLE_DEVICES"))
        .isEqualTo(System.getenv("CUDA_VISIBLE_DEVICES"));
    assertThat(program.command()).containsSequence("--device", "gpu:1");
  }

  private static StartServer server(String device) {
    return new StartServer(
        "gpu0",
        List.of(Endpoint.parse("tcp://127.0.0.1:7799")),
        device,
        Optional.empty(),
        1,
        Path.of("/t/tokens"),
        Path.of("/t/pid"),
        Path.of("/t/log"));
  }
}
