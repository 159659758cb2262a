package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.Memory;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.connection.DataConnections;
import graft.remoting.server.protocol.ProtocolException;
import java.util.Random;

/** Receives and checks answers, and supplies random bulk data. */
public final class MemoryChannel implements Channel {
  private static final long MOST_BULK = 16 << 20;

  private final Random random;
  private final long reply = Memory.allocate(MAX_RECORD);

  public MemoryChannel(Random random) {
    this.random = random;
  }

  @Override
  public long nextRecord() {
    throw new AssertionError("the test gives the records");
  }

  @Override
  public boolean hasRecord() {
    return random.nextBoolean();
  }

  /** Data beyond some megabytes never arrives: writing gigabytes would only take time. */
  @Override
  public void readBulk(long address, long length) {
    if (length > MOST_BULK) {
      throw new ProtocolException("the stream ends in the middle of bulk data");
    }
    Memory.fill(address, length, (byte) 1);
  }

  @Override
  public void skipBulk(long length) {
    assertThat(length).isPositive();
  }

  @Override
  public DataConnections dataConnections() {
    DataConnections none = new DataConnections(0);
    none.fail(new java.io.IOException("this test has no connections"));
    return none;
  }

  @Override
  public long replyBuffer() {
    return reply;
  }

  @Override
  public int replyCapacity() {
    return MAX_RECORD;
  }

  @Override
  public void send(long address, long length) {
    assertThat(Memory.getInt(address)).isEqualTo((int) length);
    assertThat(length % 8).isZero();
    assertThat(length).isBetween(16L, (long) MAX_RECORD);
  }

  @Override
  public void sendBulk(long header, long headerLength, long address, long length) {
    assertThat(Memory.getInt(header)).isEqualTo((int) headerLength);
    assertThat(length).isPositive();
  }

  @Override
  public long bytesIn() {
    return 0;
  }

  @Override
  public long bytesOut() {
    return 0;
  }

  @Override
  public void close() {
    // The memory is not freed, because a waiter may still use it.
  }
}
