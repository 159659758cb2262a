package graft.remoting.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.Memory;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.connection.StreamChannel;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A client that changes the positions and the contents of rings while the server's end reads and
 * writes them, for the rings of a region (shm, ivshmem) and those of granted pages (vchan). Each
 * part of the rings lies between inaccessible pages, so that an access beyond it kills this process
 * and fails the test.
 */
@Timeout(120)
class RingAttackTest {
  private static final int SESSIONS = 60;
  private static final int WRITES = 4_000;
  private static final long GUARD = 1 << 16;
  private static final int MAP_PRIVATE_ANONYMOUS = 0x22;
  private static final int MAP_FIXED = 0x10;
  private static final int TAIL = 64;
  private static final int ASLEEP = 128;
  private static final int CONTROL = 4096;

  /** The rings of a transport, by the size of their data. */
  enum Layout {
    REGION(RingTransport.RING),
    GRANTED_PAGES(GrantedPages.RING);

    private final long bytes;

    Layout(long bytes) {
      this.bytes = bytes;
    }
  }

  /** Memory between inaccessible pages. */
  private record Guarded(long address, long bytes) {
    static Guarded of(long bytes) {
      long all = Libc.mmap(0, bytes + 2 * GUARD, 0, MAP_PRIVATE_ANONYMOUS, -1, 0);
      long inner =
          Libc.mmap(
              all + GUARD,
              bytes,
              Libc.PROT_READ | Libc.PROT_WRITE,
              MAP_PRIVATE_ANONYMOUS | MAP_FIXED,
              -1,
              0);
      assertThat(inner).isEqualTo(all + GUARD);
      return new Guarded(inner, bytes);
    }

    void free() {
      Libc.munmap(address - GUARD, bytes + 2 * GUARD);
    }
  }

  private Guarded[] parts = {};

  private Rings rings(Layout layout) {
    parts =
        new Guarded[] {
          Guarded.of(CONTROL),
          Guarded.of(layout.bytes),
          Guarded.of(CONTROL),
          Guarded.of(layout.bytes)
        };
    return new Rings(
        parts[0].address, parts[1].address, parts[2].address, parts[3].address, layout.bytes);
  }

  @AfterEach
  void free() {
    Arrays.stream(parts).forEach(Guarded::free);
  }

  /** The client never sleeps and never waits for a bell. */
  private static final class Bell implements Doorbell {
    private volatile boolean gone;

    @Override
    public boolean await() {
      Thread.onSpinWait();
      return !gone;
    }

    @Override
    public void ring() {}

    @Override
    public boolean isGone() {
      return gone;
    }

    @Override
    public void close() {}
  }

  /** How a session ended, and the number of records that it executed. */
  record End(long records, boolean byViolation) {}

  /** The lab's machine has no library of assertions. */
  private static void require(boolean condition, String what) {
    if (!condition) {
      throw new AssertionError(what);
    }
  }

  /** Executes what comes as records, each of which is answered with itself. */
  static End serve(Transport transport) {
    long records = 0;
    Channel channel = new StreamChannel(transport, 0);
    try {
      for (long record; (record = channel.nextRecord()) != 0; records++) {
        int size = Memory.getInt(record);
        require(size >= Channel.RECORD_HEADER && size <= Channel.MAX_RECORD, "size " + size);
        byte[] before = Scratch.bytesAt(record, size);
        channel.send(record, size);
        require(
            Arrays.equals(Scratch.bytesAt(record, size), before),
            "a record changed while it was executed");
      }
      return new End(records, false);
    } catch (ProtocolException e) {
      require(!String.valueOf(e.getMessage()).contains("null"), "a protocol error without reason");
      return new End(records, true);
    } catch (IOException e) {
      return new End(records, false);
    }
  }

  private static long nasty(Random random, long near, long size) {
    return switch (random.nextInt(8)) {
      case 0 -> -1;
      case 1 -> Long.MIN_VALUE;
      case 2 -> Long.MAX_VALUE;
      case 3 -> near + size;
      case 4 -> near + size + 1;
      case 5 -> near - 1;
      case 6 -> random.nextLong();
      default -> random.nextInt();
    };
  }

  /** One of the client's writes: mostly right ones, so that sessions go on for a while. */
  private static long write(Rings rings, Random random, long head, int hostility) {
    long size = rings.bytes();
    long answered = Memory.getLongVolatile(rings.answers());
    int what = random.nextInt(1000);
    if (what < hostility) {
      long position = random.nextBoolean() ? rings.requests() : rings.answers() + TAIL;
      Memory.putLongVolatile(position, nasty(random, head, size));
    } else if (what < 200) { // what the client may write, and what only the server may
      long control = random.nextBoolean() ? rings.requests() : rings.answers();
      Memory.putIntVolatile(control + ASLEEP, random.nextInt());
      Memory.putLongVolatile(rings.requests() + TAIL, random.nextLong());
    } else if (what < 500) {
      Memory.putLong(
          rings.requestsData() + 8L * random.nextInt((int) (size / 8)), random.nextLong());
      Memory.putLong(
          rings.answersData() + 8L * random.nextInt((int) (size / 8)), random.nextLong());
    } else if (what < 600) { // the sizes of records that the server is about to read
      Memory.putInt(rings.requestsData() + (head - 16 & size - 1), random.nextInt());
    } else if (what < 800) {
      Memory.putLongVolatile(rings.answers() + TAIL, answered);
    } else {
      int bytes = 16 + 8 * random.nextInt(60);
      for (int at = 0; at < bytes; at += 8) {
        long word = at == 0 ? bytes : random.nextLong();
        Memory.putLong(rings.requestsData() + (head + at & size - 1), word);
      }
      Memory.putLongVolatile(rings.requests(), head + bytes);
      return head + bytes;
    }
    return head;
  }

  @ParameterizedTest
  @EnumSource
  void aClientThatChangesRingsWhileTheyAreReadEndsItsSessionAlone(Layout layout) throws Exception {
    Rings rings = rings(layout);
    long records = 0;
    int violations = 0;
    for (int session = 0; session < SESSIONS; session++) {
      Random random = new Random(session);
      Memory.fill(rings.requests(), CONTROL, (byte) 0);
      Memory.fill(rings.answers(), CONTROL, (byte) 0);
      Bell bell = new Bell();
      CompletableFuture<End> server =
          CompletableFuture.supplyAsync(() -> serve(new RingTransport(bell, rings)));
      int hostility = session % 3 == 0 ? 0 : session % 3;
      long head = 0;
      for (int i = 0; i < WRITES && !server.isDone(); i++) {
        head = write(rings, random, head, hostility);
      }
      bell.gone = true;
      End end = server.get(60, TimeUnit.SECONDS);
      records += end.records;
      violations += end.byViolation ? 1 : 0;
    }
    System.out.printf(
        "%s: %d sessions executed %d records; %d ended by a protocol error%n",
        layout, SESSIONS, records, violations);
    assertThat(records).isPositive();
    assertThat(violations).isPositive();
  }

  /** The ring of answers is full, and the client's position moves while the server looks at it. */
  @Test
  void aFullRingWhoseReaderLiesIsLeft() throws Exception {
    Rings rings = rings(Layout.GRANTED_PAGES);
    for (int seed = 0; seed < 20; seed++) {
      Memory.fill(rings.answers(), CONTROL, (byte) 0);
      Bell bell = new Bell();
      RingTransport transport = new RingTransport(bell, rings);
      CompletableFuture<Boolean> server =
          CompletableFuture.supplyAsync(
              () -> {
                try (Scratch data = new Scratch(1 << 20)) {
                  for (int i = 0; i < 1000; i++) {
                    transport.sendAll(data.address(), 1 << 20, false);
                  }
                  return false;
                } catch (IOException | ProtocolException e) {
                  return true;
                }
              });
      Random random = new Random(seed);
      while (!server.isDone()) {
        long answered = Memory.getLongVolatile(rings.answers());
        long tail = random.nextInt(50) == 0 ? nasty(random, answered, rings.bytes()) : answered;
        Memory.putLongVolatile(rings.answers() + TAIL, tail);
      }
      assertThat(server.get()).isTrue();
    }
  }
}
