package graft.remoting.server.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.device.Memory;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.transport.Transport;
import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A connection with several receives in progress, as over UCX. */
@Timeout(120)
class DataConnectionTest {
  private static final int LENGTH = 64;

  private final Several connection = new Several();
  private final Several other = new Several();
  private final DataConnections connections = new DataConnections(0);
  private final Scratch memory = new Scratch(2 * LENGTH);

  /** Receives begin as soon as they are requested, and finish when the test says so. */
  private static final class Several implements Transport {
    private final BlockingQueue<long[]> headers = new LinkedBlockingQueue<>();
    private final BlockingQueue<Long> begun = new LinkedBlockingQueue<>();
    private final AtomicLong there = new AtomicLong();
    private final Semaphore somethingNew = new Semaphore(0);
    private volatile boolean ended;
    private long marks;

    private void chunk(long transfer) {
      headers.add(new long[] {transfer, 0, LENGTH});
      somethingNew.release();
    }

    private void arrive(long mark) {
      there.set(mark);
      somethingNew.release();
    }

    private void end() {
      ended = true;
      somethingNew.release();
    }

    private void cut() {
      there.set(-1);
      somethingNew.release();
    }

    @Override
    public long tryReceive(long address, long length) {
      long[] header = headers.poll();
      return header != null ? put(header, address) : ended ? END : NOTHING;
    }

    private static long put(long[] header, long address) {
      for (int i = 0; i < header.length; i++) {
        Memory.putLong(address + 8L * i, header[i]);
      }
      return 8L * header.length;
    }

    @Override
    public long receive(long address, long length) throws IOException {
      try {
        return put(headers.take(), address);
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }

    @Override
    public long beginReceive(long address, long length) {
      begun.add(address);
      return ++marks;
    }

    @Override
    public boolean receivesSeveral() {
      return true;
    }

    @Override
    public boolean hasReceived(long mark) {
      return there.get() >= mark;
    }

    @Override
    public void progress() throws IOException {
      somethingNew.acquireUninterruptibly();
      if (there.get() < 0) {
        throw new IOException("cut");
      }
    }

    @Override
    public void sendAll(long address, long length, boolean more) {}

    @Override
    public void close() {}
  }

  @BeforeEach
  void start() {
    connections.add(connection);
    assertThat(connections.receiveSeveral()).isTrue();
  }

  @AfterEach
  void stop() {
    connections.fail(new IOException("the test is over"));
    connection.cut();
    other.cut();
    memory.close();
  }

  private void begin(int transfer) throws IOException {
    connections
        .incoming()
        .begin(LENGTH, Destination.memory(memory.address() + (long) transfer * LENGTH));
  }

  @Test
  void aChunkIsBegunBeforeTheOneBeforeItHasArrived() throws Exception {
    begin(0);
    begin(1);
    connection.chunk(1);
    connection.chunk(2);
    assertThat(connection.begun.take()).isEqualTo(memory.address());
    assertThat(connection.begun.take()).isEqualTo(memory.address() + LENGTH);
    assertThat(connections.bytesIn()).isZero();
    assertThat(connections.incoming().behind(memory.address() + LENGTH - 1, 1)).isEqualTo(LENGTH);
    assertThat(connections.incoming().behind(memory.address() + LENGTH - 1, 2)).isZero();
    assertThat(connections.incoming().behind(memory.address() + 2 * LENGTH, 1)).isNegative();
    connection.arrive(1);
    connection.arrive(2);
    connections.incoming().await();
    assertThat(connections.bytesIn()).isEqualTo(2 * LENGTH);
    assertThat(connections.incoming().behind(memory.address(), 2 * LENGTH)).isNegative();
  }

  @Test
  void aChunkWaitsForEarlierOnesToTheSameMemory() throws Exception {
    begin(0);
    begin(1);
    connections.incoming().begin(LENGTH, Destination.memory(memory.address() + LENGTH / 2));
    connection.chunk(1);
    connection.chunk(2);
    connection.chunk(3);
    connection.begun.take();
    connection.begun.take();
    connection.arrive(1);
    assertThat(connection.begun.poll(50, TimeUnit.MILLISECONDS)).isNull();
    connection.arrive(2);
    assertThat(connection.begun.take()).isEqualTo(memory.address() + LENGTH / 2);
    connection.arrive(3);
    connections.incoming().await();
    assertThat(connections.bytesIn()).isEqualTo(3 * LENGTH);
  }

  @Test
  void aChunkWaitsForThoseOfOtherConnections() throws Exception {
    connections.add(other);
    begin(0);
    begin(0);
    other.chunk(2);
    assertThat(other.begun.poll(50, TimeUnit.MILLISECONDS)).isNull();
    connection.chunk(1);
    connection.begun.take();
    assertThat(other.begun.poll(50, TimeUnit.MILLISECONDS)).isNull();
    connection.arrive(1);
    assertThat(other.begun.take()).isEqualTo(memory.address());
    other.arrive(1);
    connections.incoming().await();
    assertThat(connections.bytesIn()).isEqualTo(2 * LENGTH);
  }

  /** The executor may wait for the transfer in progress before it reaches the next one. */
  @Test
  void whatIsOnItsWayEndsThoughTheNextHasNotBegun() throws Exception {
    begin(0);
    connection.chunk(1);
    connection.chunk(2);
    assertThat(connection.begun.take()).isEqualTo(memory.address());
    connection.arrive(1);
    connections.incoming().await();
    assertThat(connection.begun).isEmpty();
    begin(1);
    connection.arrive(2);
    connections.incoming().await();
    assertThat(connections.bytesIn()).isEqualTo(2 * LENGTH);
  }

  @Test
  void whatCameBeforeTheEndIsThere() throws Exception {
    begin(0);
    begin(1);
    connection.chunk(1);
    connection.chunk(2);
    connection.begun.take();
    connection.begun.take();
    connection.there.set(2);
    connection.end();
    connections.incoming().await();
    assertThat(connections.bytesIn()).isEqualTo(2 * LENGTH);
  }

  @Test
  void aConnectionThatIsCutEndsWhatIsOnItsWay() throws Exception {
    begin(0);
    connection.chunk(1);
    connection.begun.take();
    connection.cut();
    assertThatThrownBy(connections.incoming()::await).hasMessageContaining("cut");
  }
}
