package graft.cli.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RemoteProgramTest {
  private static Map<String, String> nccl(String... servers) {
    return RemoteProgram.nccl(Stream.of(servers).map(ServerAddress::new).toList());
  }

  @Test
  void ncclUsesSocketsBetweenServersThatShareMemoryWithTheProgram() {
    assertThat(nccl("shm:///run/a.sock", "shm:///run/b.sock"))
        .isEqualTo(Map.of("NCCL_SHM_DISABLE", "1"));
  }

  @Test
  void ncclIsLeftAloneElsewhere() {
    assertThat(nccl("shm:///run/a.sock")).isEmpty();
    assertThat(nccl("shm:///run/a.sock", "tcp://127.0.0.1:7799")).isEmpty();
    assertThat(RemoteProgram.nccl(List.of())).isEmpty();
  }
}
