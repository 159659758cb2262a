package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.Memory;
import org.junit.jupiter.api.Test;

class CallTest {
  /**
   * A channel's buffer is used again while a call waits or reads bulk data: the call keeps its own.
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
    Call call = new Call(new NoChannel());
    call.begin(record);
    Memory.fill(record, 24, (byte) -1);
    assertThat(call.slot()).isEqualTo(77);
    assertThat(call.contextId()).isEqualTo(5);
    assertThat(Memory.getLong(call.parameters())).isEqualTo(42);
    assertThat(call.end() - call.parameters()).isEqualTo(8);
    Memory.free(record);
  }

  private static final class NoChannel implements Channel {
    @Override
    public long nextRecord() {
      return 0;
    }

    @Override
    public boolean hasRecord() {
      return false;
    }

    @Override
    public void readBulk(long address, long length) {}

    @Override
    public Lanes lanes() {
      Lanes none = new Lanes(0);
      none.fail(new java.io.IOException("this test has no lanes"));
      return none;
    }

    @Override
    public void skipBulk(long length) {}

    @Override
    public long replyBuffer() {
      return 0;
    }

    @Override
    public int replyCapacity() {
      return 0;
    }

    @Override
    public void send(long address, long length) {}

    @Override
    public void sendBulk(long header, long headerLength, long address, long length) {}

    @Override
    public long bytesIn() {
      return 0;
    }

    @Override
    public long bytesOut() {
      return 0;
    }

    @Override
    public void close() {}
  }
}
