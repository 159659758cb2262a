package graft.remoting.server;

import graft.remoting.device.Memory;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Two rings in memory that the client shares, and its socket as doorbell (layout and rules: {@code
 * client/src/ring.h}). Positions count bytes since the start; the client's are checked after they
 * are read, so that nonsense ends its own session and nothing else.
 */
final class RingTransport implements Transport {
  private static final long RING = 4 << 20;
  private static final long REQUESTS = 4096;
  private static final long ANSWERS = 8192;
  private static final long REQUESTS_DATA = 1 << 20;
  private static final long ANSWERS_DATA = REQUESTS_DATA + RING;
  private static final int TAIL = 64;
  private static final int ASLEEP = 128;

  private static final int MAGIC = 0x48535247;
  private static final int VERSION = 1;
  private static final int GREETING = 24;

  private static final int HURRY = 100;
  private static final long PAUSE_NANOS = 20_000;

  private final NativeSocket doorbell;
  private final Region region;
  private final long requests;
  private final long requestsData;
  private final long answers;
  private final long answersData;
  private long received;
  private long sent;

  private RingTransport(NativeSocket doorbell, Region region) {
    this.doorbell = doorbell;
    this.region = region;
    this.requests = region.address() + REQUESTS;
    this.requestsData = region.address() + REQUESTS_DATA;
    this.answers = region.address() + ANSWERS;
    this.answersData = region.address() + ANSWERS_DATA;
  }

  /**
   * Receives the shared memory from a client that has been welcomed.
   *
   * @throws ProtocolException when it sends none in time, or not what it must be
   */
  static RingTransport accept(NativeSocket socket, Duration limit) throws IOException {
    if (socket.poll(Libc.POLLIN, (int) limit.toMillis()) == 0) {
      throw new ProtocolException("the client sends no shared memory");
    }
    try (Scratch greeting = new Scratch(GREETING)) {
      Descriptors.Received received = Descriptors.receive(socket, greeting.address(), GREETING);
      if (received.bytes() != GREETING
          || received.fd() < 0
          || Memory.getInt(greeting.address()) != MAGIC
          || Memory.getInt(greeting.address() + 4) != VERSION
          || Memory.getLong(greeting.address() + 8) != Region.BYTES) {
        throw new ProtocolException("the client sends shared memory of another kind");
      }
      return new RingTransport(
          socket, new Region(received.fd(), Memory.getLong(greeting.address() + 16)));
    }
  }

  @Override
  public long tryReceive(long address, long length) {
    long have = Memory.getLongVolatile(requests) - received;
    if (have == 0) {
      return NOTHING;
    }
    if (have < 0 || have > RING) {
      throw new ProtocolException("the ring of requests is out of order");
    }
    long at = received & RING - 1;
    long take = Math.min(Math.min(length, have), RING - at);
    Memory.copy(requestsData + at, address, take);
    received += take;
    Memory.putLongVolatile(requests + TAIL, received);
    return take;
  }

  @Override
  public int looksAtOnce() {
    return 64;
  }

  @Override
  public long receive(long address, long length) throws IOException {
    while (true) {
      long count = tryReceive(address, length);
      if (count != NOTHING) {
        return count;
      }
      Memory.putIntVolatile(requests + ASLEEP, 1);
      if (Memory.getLongVolatile(requests) != received) {
        Memory.putIntVolatile(requests + ASLEEP, 0);
      } else if (!sleep()) {
        // What it had written before it went still counts.
        long last = tryReceive(address, length);
        return last == NOTHING ? END : last;
      }
    }
  }

  /** Waits for the bell; false when the client has gone. */
  private boolean sleep() throws IOException {
    try (Scratch bells = new Scratch(64)) {
      return doorbell.receive(bells.address(), 64) != END;
    }
  }

  @Override
  public void sendAll(long address, long length, boolean more) throws IOException {
    long done = 0;
    int full = 0;
    while (done < length) {
      long used = sent - Memory.getLongVolatile(answers + TAIL);
      if (used < 0 || used > RING) {
        throw new ProtocolException("the ring of answers is out of order");
      }
      if (used == RING) {
        waitForRoom(++full);
        continue;
      }
      full = 0;
      long at = sent & RING - 1;
      long take = Math.min(Math.min(length - done, RING - used), RING - at);
      Memory.copy(address + done, answersData + at, take);
      sent += take;
      done += take;
      Memory.putLongVolatile(answers, sent);
      if (!more || done < length) {
        ring();
      }
    }
  }

  /** The client is far behind: this is no time to hurry. */
  private void waitForRoom(int times) throws IOException {
    if (times <= HURRY) {
      Thread.onSpinWait();
      return;
    }
    if (times % 64 == 0 && doorbell.poll(0, 0) != 0) {
      throw new IOException("the client has gone");
    }
    LockSupport.parkNanos(PAUSE_NANOS);
  }

  private void ring() throws IOException {
    if (Memory.getIntVolatile(answers + ASLEEP) != 0
        && Memory.compareAndSwapInt(answers + ASLEEP, 1, 0)) {
      try (Scratch bell = new Scratch(1)) {
        doorbell.trySend(bell.address(), 1);
      }
    }
  }

  @Override
  public Region region() {
    return region;
  }

  @Override
  public void close() {
    doorbell.close();
  }
}
