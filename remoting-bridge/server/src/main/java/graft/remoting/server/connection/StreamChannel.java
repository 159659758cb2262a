package graft.remoting.server.connection;

import graft.remoting.device.Memory;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.transport.Region;
import graft.remoting.server.transport.Transport;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntUnaryOperator;

/**
 * A {@link Channel} on a stream transport. It receives as much as has arrived into one buffer, so
 * that many small records cost one system call; large bulk data is received directly into its
 * destination.
 */
public final class StreamChannel implements Channel {
  static final int BUFFER = 2 * MAX_RECORD;
  private static final int REPLY = MAX_RECORD;
  private static final int DIRECT = 64 * 1024;

  private final Transport transport;
  private final long spinNanos;

  /** How long a read polls on after the session has done what it does while nothing arrives. */
  private final long lingerNanos;

  private final long buffer = Memory.allocate(BUFFER);
  private final long reply = Memory.allocate(REPLY);
  private final ReentrantLock sending = new ReentrantLock();
  private final AtomicLong bytesIn = new AtomicLong();
  private final AtomicLong bytesOut = new AtomicLong();
  private final DataConnections connections;
  private Runnable idle = () -> {};
  private IntUnaryOperator functions = IntUnaryOperator.identity();
  private int start;
  private int end;

  /**
   * Creates the channel, which takes over {@code transport}.
   *
   * @param spinMicros how long a read polls before it sleeps
   */
  public StreamChannel(Transport transport, int spinMicros) {
    this(
        transport,
        TimeUnit.MICROSECONDS.toNanos(spinMicros),
        Polling.lingerNanos(TimeUnit.MICROSECONDS.toNanos(spinMicros)));
  }

  /**
   * Creates a channel that polls as long as a test wants.
   *
   * @param lingerNanos how long a read polls on after {@link #whenIdle}
   */
  StreamChannel(Transport transport, long spinNanos, long lingerNanos) {
    this.transport = transport;
    this.spinNanos = spinNanos;
    this.lingerNanos = lingerNanos;
    this.connections = new DataConnections(spinNanos);
  }

  /** Has the function of each record replaced, for a client that numbers functions otherwise. */
  public void number(IntUnaryOperator functions) {
    this.functions = functions;
  }

  @Override
  public long nextRecord() throws IOException {
    if (!fill(RECORD_HEADER)) {
      if (start == end) {
        return 0;
      }
      throw new ProtocolException("the stream ends in the middle of a record's header");
    }
    int size = Memory.getInt(buffer + start);
    if (size < RECORD_HEADER || size > MAX_RECORD || (size & 7) != 0) {
      throw new ProtocolException(
          "a record of "
              + Integer.toUnsignedString(size)
              + " bytes; it must be a multiple of 8 from "
              + RECORD_HEADER
              + " to "
              + MAX_RECORD);
    }
    if (!fill(size)) {
      throw new ProtocolException(
          "the stream ends in the middle of a record of " + size + " bytes");
    }
    long record = buffer + start;
    int function = Memory.getShort(record + FUNCTION) & 0xFFFF;
    Memory.putShort(record + FUNCTION, (short) functions.applyAsInt(function));
    start += size;
    return record;
  }

  @Override
  public boolean hasRecord() throws IOException {
    if (start != end) {
      return true;
    }
    start = 0;
    end = 0;
    return receive(false) > 0;
  }

  /**
   * Makes {@code count} bytes available at {@code start}. Returns false if the stream ends earlier.
   */
  private boolean fill(int count) throws IOException {
    if (start == end) {
      start = 0;
      end = 0;
    }
    while (end - start < count) {
      if (start + count > BUFFER) {
        Memory.copy(buffer + start, buffer, end - start);
        end -= start;
        start = 0;
      }
      if (receive(true) == Transport.END) {
        return false;
      }
    }
    return true;
  }

  private long receive(boolean wait) throws IOException {
    long count = receiveTo(buffer + end, BUFFER - end, wait);
    if (count > 0) {
      end += (int) count;
    }
    return count;
  }

  private long receiveTo(long address, long length, boolean wait) throws IOException {
    long count = transport.tryReceive(address, length);
    if (count == Transport.NOTHING && wait) {
      count = spin(address, length);
    }
    if (count > 0) {
      bytesIn.lazySet(bytesIn.get() + count);
    }
    return count;
  }

  private long spin(long address, long length) throws IOException {
    long count = poll(address, length, spinNanos);
    if (count == Transport.NOTHING) {
      idle.run();
      count = poll(address, length, lingerNanos);
    }
    return count == Transport.NOTHING ? transport.receive(address, length) : count;
  }

  private long poll(long address, long length, long nanos) throws IOException {
    long limit = System.nanoTime() + nanos;
    while (nanos > 0 && System.nanoTime() < limit) {
      // Reading the clock costs as much as polling a ring many times.
      for (int i = 0; i < transport.looksAtOnce(); i++) {
        long count = transport.tryReceive(address, length);
        if (count != Transport.NOTHING) {
          return count;
        }
      }
    }
    return Transport.NOTHING;
  }

  @Override
  public void whenIdle(Runnable task) {
    idle = task;
  }

  @Override
  public void readBulk(long address, long length) throws IOException {
    long done = Math.min(length, end - start);
    Memory.copy(buffer + start, address, done);
    start += (int) done;
    while (done < length) {
      long left = length - done;
      if (left >= DIRECT) {
        long count = receiveTo(address + done, left, true);
        if (count == Transport.END) {
          throw truncated(done, length);
        }
        done += count;
      } else {
        if (!fill(1)) {
          throw truncated(done, length);
        }
        long count = Math.min(left, end - start);
        Memory.copy(buffer + start, address + done, count);
        start += (int) count;
        done += count;
      }
    }
  }

  @Override
  public void skipBulk(long length) throws IOException {
    long done = 0;
    while (done < length) {
      if (!fill(1)) {
        throw truncated(done, length);
      }
      long count = Math.min(length - done, end - start);
      start += (int) count;
      done += count;
    }
  }

  private static ProtocolException truncated(long done, long length) {
    return new ProtocolException(
        "the stream ends after "
            + done
            + " of "
            + Long.toUnsignedString(length)
            + " bytes of bulk data");
  }

  @Override
  public long replyBuffer() {
    return reply;
  }

  @Override
  public int replyCapacity() {
    return REPLY;
  }

  @Override
  public void send(long address, long length) throws IOException {
    sending.lock();
    try {
      transport.sendAll(address, length, false);
      bytesOut.lazySet(bytesOut.get() + length);
    } finally {
      sending.unlock();
    }
  }

  @Override
  public void sendBulk(long header, long headerLength, long address, long length)
      throws IOException {
    sending.lock();
    try {
      transport.sendAll(header, headerLength, length != 0);
      transport.sendAll(address, length, false);
      bytesOut.lazySet(bytesOut.get() + headerLength + length);
    } finally {
      sending.unlock();
    }
  }

  @Override
  public DataConnections dataConnections() {
    return connections;
  }

  @Override
  public Region region() {
    return transport.region();
  }

  @Override
  public long bytesIn() {
    return bytesIn.get() + connections.bytesIn();
  }

  @Override
  public long bytesOut() {
    return bytesOut.get() + connections.bytesOut();
  }

  /**
   * Ends the connection. Its memory is freed only with the worker's process, because a waiter may
   * still hold an address in it.
   */
  @Override
  public void close() {
    transport.close();
  }
}
