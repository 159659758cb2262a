package graft.guests.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class CudaCheckTest {
  @Test
  void eachDeviceIsNamedWithItsChannel() {
    Map<String, String> one = Map.of("device", "A", "channel", "shm:///s", "result", "ok");
    assertThat(CudaCheck.devices(one, "by")).isEqualTo("A by shm:///s");
    assertThat(CudaCheck.devices(Map.of("device", "A", "device_2", "C"), "by")).isEqualTo("A");
    Map<String, String> two =
        Map.of("device", "A", "channel", "shm:///s", "device_1", "B", "channel_1", "tcp://h:1");
    assertThat(CudaCheck.devices(two, "at")).isEqualTo("A at shm:///s; B at tcp://h:1");
  }
}
