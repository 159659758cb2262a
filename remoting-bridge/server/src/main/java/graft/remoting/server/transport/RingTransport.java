package graft.remoting.server.transport;

import graft.remoting.device.Memory;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.system.NativeSocket;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Two rings in memory that both ends map, and a doorbell (layout and rules: {@code
 * client/src/transport/ring.h}). Positions count bytes since the start. The client's positions are
 * checked after they are read, so that an invalid position ends only its own session.
 */
public final class RingTransport implements Transport {
  /** The bytes at the start of the rings' part that hold all positions and flags. */
  static final int POSITIONS = 12 << 10;

  /** The size of each ring in a region. */
  static final long RING = 4 << 20;

  /** The bytes that small rings take. */
  public static final long SMALL = Rings.SMALL;

  private static final int TAIL = 64;
  private static final int ASLEEP = 128;

  private static final int HURRY = 100;
  private static final long PAUSE_NANOS = 20_000;

  private final Doorbell doorbell;
  private final Region region;
  private final long patienceNanos;
  private final long size;
  private final long requests;
  private final long requestsData;
  private final long answers;
  private final long answersData;
  private long received;
  private long sent;

  private RingTransport(Doorbell doorbell, Rings rings, Region region, long patienceNanos) {
    this.doorbell = doorbell;
    this.region = region;
    this.patienceNanos = patienceNanos;
    this.size = rings.bytes();
    this.requests = rings.requests();
    this.requestsData = rings.requestsData();
    this.answers = rings.answers();
    this.answersData = rings.answersData();
  }

  /** Uses the rings in {@code region}, with the client's connection as doorbell. */
  public RingTransport(NativeSocket doorbell, Region region) {
    this(Doorbell.of(doorbell), Rings.of(region), region, region.patienceNanos());
  }

  /**
   * Returns the server's end and then the client's end of small rings in this process's own memory.
   *
   * @param bells two sockets that are connected to each other
   * @param memory {@link #SMALL} zeroed bytes
   * @param region the memory that the server's end shares with its client
   */
  public static List<Transport> pair(List<NativeSocket> bells, long memory, Region region) {
    Rings server = Rings.small(memory);
    return List.of(
        new RingTransport(Doorbell.of(bells.get(0)), server, region, 0),
        new RingTransport(Doorbell.of(bells.get(1)), server.otherEnd()));
  }

  /** Uses rings without further shared memory. */
  public RingTransport(Doorbell doorbell, Rings rings) {
    this(doorbell, rings, null, 0);
  }

  @Override
  public long tryReceive(long address, long length) {
    long have = Memory.getLongVolatile(requests) - received;
    if (have == 0) {
      return NOTHING;
    }
    if (have < 0 || have > size) {
      throw new ProtocolException("the ring of requests is out of order");
    }
    long at = received & size - 1;
    long take = Math.min(Math.min(length, have), size - at);
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
    long began = 0; // read only once polling has taken long enough for the time to matter
    while (true) {
      long count = tryReceive(address, length);
      if (count != NOTHING) {
        return count;
      }
      if (patienceNanos > 0) {
        began = began == 0 ? System.nanoTime() : began;
        long waited = System.nanoTime() - began;
        if (waited < patienceNanos) {
          LockSupport.parkNanos(Math.max(PAUSE_NANOS, waited / 8));
          continue;
        }
      }
      Memory.putIntVolatile(requests + ASLEEP, 1);
      if (Memory.getLongVolatile(requests) != received) {
        Memory.putIntVolatile(requests + ASLEEP, 0);
      } else if (!doorbell.await()) {
        // What the client wrote before it disconnected still counts.
        long last = tryReceive(address, length);
        return last == NOTHING ? END : last;
      }
    }
  }

  @Override
  public void sendAll(long address, long length, boolean more) throws IOException {
    long done = 0;
    int full = 0;
    while (done < length) {
      long used = sent - Memory.getLongVolatile(answers + TAIL);
      if (used < 0 || used > size) {
        throw new ProtocolException("the ring of answers is out of order");
      }
      if (used == size) {
        waitForRoom(++full);
        continue;
      }
      full = 0;
      long at = sent & size - 1;
      long take = Math.min(Math.min(length - done, size - used), size - at);
      Memory.copy(address + done, answersData + at, take);
      sent += take;
      done += take;
      Memory.putLongVolatile(answers, sent);
      if (!more || done < length) {
        ring();
      }
    }
  }

  /**
   * Waits while the ring to the client is full. The client is far behind, so that a longer sleep
   * costs nothing.
   */
  private void waitForRoom(int times) throws IOException {
    if (times <= HURRY) {
      Thread.onSpinWait();
      return;
    }
    if (times % 64 == 0 && doorbell.isGone()) {
      throw new IOException("the client has disconnected");
    }
    LockSupport.parkNanos(PAUSE_NANOS);
  }

  private void ring() throws IOException {
    if (Memory.getIntVolatile(answers + ASLEEP) != 0
        && Memory.compareAndSwapInt(answers + ASLEEP, 1, 0)) {
      doorbell.ring();
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
