package graft.remoting.server.session.call;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.Memory;
import graft.remoting.server.MemoryChannel;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CallTest {
  /**
   * A channel's buffer is reused while a call waits or reads bulk data, so that the call keeps a
   * copy.
   */
  @Test
  void keepsTheRecordWhenTheChannelUsesItsPlaceAgain() {
    long record = Memory.allocate(24);
    Memory.putInt(record, 24);
    Memory.putShort(record + 4, (short) 3);
    Memory.putShort(record + 6, (short) 1);
    Memory.putInt(record + 8, 77);
    Memory.putInt(record + 12, 5);
    Memory.putLong(record + 16, 42);
    Call call = new Call(new MemoryChannel(new Random(1)));
    call.begin(record);
    Memory.fill(record, 24, (byte) -1);
    assertThat(call.slot()).isEqualTo(77);
    assertThat(call.contextId()).isEqualTo(5);
    assertThat(Memory.getLong(call.parameters())).isEqualTo(42);
    assertThat(call.end() - call.parameters()).isEqualTo(8);
    Memory.free(record);
  }
}
