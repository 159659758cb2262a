package graft.remoting.server.profile;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.Memory;
import graft.remoting.server.system.Scratch;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Test;

class WorkTimesTest {
  private static final int ENTRY = 96;

  private final Deque<Numbers.Numbered> source = new ArrayDeque<>();
  private final WorkTimes times =
      new WorkTimes(
          receiver -> {
            while (!source.isEmpty() && receiver.takes(source.peek())) {
              source.remove();
            }
          },
          () -> 0);

  private void add(int number, WorkRecord work) {
    source.add(new Numbers.Numbered(number, work));
  }

  @Test
  void aNameIsWrittenOnce() {
    add(7, NumbersTest.kernel(1, 1000, "first"));
    add(8, NumbersTest.kernel(2, 2000, "other"));
    add(9, NumbersTest.kernel(3, 3000, "first"));
    try (Scratch data = new Scratch(4096)) {
      long at = data.address();
      assertThat(times.write(at, 4096)).isEqualTo(3);
      assertThat(Memory.getInt(at)).isEqualTo(ENTRY + 8);
      assertThat(Memory.getInt(at + 4)).isEqualTo(7);
      assertThat(Memory.getLong(at + 8)).isEqualTo(1000);
      assertThat(Memory.getLong(at + 16)).isEqualTo(1010);
      assertThat(Memory.getInt(at + 32)).isEqualTo(3);
      assertThat(Memory.getInt(at + 36)).isEqualTo(1);
      for (int i = 0; i < 9; i++) {
        assertThat(Memory.getInt(at + 40 + 4L * i)).isEqualTo(i + 1);
      }
      assertThat(Memory.getInt(at + 76)).isEqualTo(24);
      assertThat(Memory.getInt(at + 88)).isEqualTo(5);
      assertThat(Memory.string(at + ENTRY, 8)).isEqualTo("first");
      long third = at + 2 * (ENTRY + 8);
      assertThat(Memory.getInt(third)).isEqualTo(ENTRY);
      assertThat(Memory.getInt(third + 4)).isEqualTo(9);
      assertThat(Memory.getInt(third + 36)).isEqualTo(1);
      assertThat(Memory.getInt(third + 88)).isZero();
    }
  }

  @Test
  void nothingIsWrittenBehindTheRoom() {
    for (int i = 0; i < 5; i++) {
      add(i, NumbersTest.kernel(i, i, "n".repeat(i * 3000)));
    }
    int room = 8192;
    try (Scratch data = new Scratch(room + 4096)) {
      int written = 0;
      while (!source.isEmpty()) {
        Memory.fill(data.address() + room, 4096, (byte) 0x5A);
        int now = times.write(data.address(), room);
        assertThat(now).isPositive();
        written += now;
        assertThat(data.bytes(room, 4096)).containsOnly(0x5A);
      }
      assertThat(written).isEqualTo(5);
      assertThat(times.write(data.address(), ENTRY - 1)).isZero();
    }
  }
}
