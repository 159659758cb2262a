package graft.remoting.software.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class DeviceMemoryTest {
  @Test
  void allocationsDoNotOverlapAndComeBack() {
    try (DeviceMemory memory = new DeviceMemory(1 << 20)) {
      Random random = new Random(3);
      Map<Long, Long> live = new HashMap<>();
      for (int i = 0; i < 5000; i++) {
        if (random.nextBoolean() || live.isEmpty()) {
          long bytes = 1 + random.nextInt(20_000);
          long address = memory.allocate(bytes, this);
          if (address != 0) {
            assertThat(address % DeviceMemory.GRANULE).isZero();
            live.forEach((a, b) -> assertThat(address + bytes <= a || a + b <= address).isTrue());
            live.put(address, bytes);
          }
        } else {
          long gone = live.keySet().iterator().next();
          live.remove(gone);
          assertThat(memory.release(gone)).isTrue();
          assertThat(memory.release(gone)).isFalse();
        }
      }
      live.keySet().forEach(memory::release);
      assertThat(memory.available()).isEqualTo(1 << 20);
      assertThat(memory.allocate(1 << 20, this)).isNotZero();
      assertThat(memory.allocate(1, this)).isZero();
    }
  }

  @Test
  void knowsWhatBelongsToAnAllocationByTheByte() {
    try (DeviceMemory memory = new DeviceMemory(1 << 20)) {
      long address = memory.allocate(1000, this);
      assertThat(memory.contains(address, 1000)).isTrue();
      assertThat(memory.contains(address, 1001)).isFalse();
      assertThat(memory.contains(address - 1, 1)).isFalse();
      assertThat(memory.find(address + 999).address()).isEqualTo(address);
      assertThat(memory.find(address + 1000)).isNull();
      memory.release(address);
      assertThat(memory.contains(address, 1)).isFalse();
    }
  }

  @Test
  void hostMemoryIsKnownWhileItIsPinned() {
    try (DeviceMemory memory = new DeviceMemory(1 << 20)) {
      memory.addHost(0x10000, 100);
      assertThat(memory.isHost(0x10000, 100)).isTrue();
      assertThat(memory.isHost(0x10001, 100)).isFalse();
      assertThat(memory.hostStart(0x10063)).isEqualTo(0x10000);
      assertThat(memory.removeHost(0x10000)).isTrue();
      assertThat(memory.isHost(0x10000, 1)).isFalse();
    }
  }
}
