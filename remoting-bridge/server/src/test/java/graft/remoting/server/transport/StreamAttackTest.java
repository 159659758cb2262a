package graft.remoting.server.transport;

import static org.junit.jupiter.api.Assumptions.abort;

import graft.remoting.device.Memory;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.Listener;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.system.ServerException;
import graft.remoting.server.system.SocketAddress;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A client on a stream (vsock, Unix, TCP) that sends records with impossible sizes, in pieces or in
 * part, does not receive its answers, and leaves at any point. Vsock needs the kernel's loopback
 * (module {@code vsock_loopback}); without it, the same code is tested over a Unix socket alone.
 * {@code lab/test --units} runs the attack over vsock.
 */
@Timeout(120)
class StreamAttackTest {
  private static final int SESSIONS = 60;
  private static final int WRITES = 400;
  private static final int CID_LOCAL = 1;
  private static final int PORT = 7_799;
  private static final long PATIENCE = TimeUnit.MILLISECONDS.toNanos(50);

  /** What connects the two ends. */
  enum Stream {
    UNIX {
      @Override
      List<NativeSocket> connect() throws IOException {
        try (Scratch ends = new Scratch(2 * Integer.BYTES)) {
          int type = Libc.SOCK_STREAM | Libc.SOCK_CLOEXEC;
          require(Libc.socketpair(Libc.AF_UNIX, type, 0, ends.address()) == 0, "socketpair");
          return List.of(
              new NativeSocket(Memory.getInt(ends.address()), "client"),
              new NativeSocket(Memory.getInt(ends.address() + Integer.BYTES), "server"));
        }
      }
    },
    VSOCK {
      @Override
      List<NativeSocket> connect() throws IOException, ServerException {
        ListenAddress.Vsock address = new ListenAddress.Vsock(CID_LOCAL, PORT);
        try (Listener listener = Listener.open(address);
            Scratch to = new Scratch(SocketAddress.CAPACITY)) {
          int fd = Libc.socket(Libc.AF_VSOCK, Libc.SOCK_STREAM | Libc.SOCK_CLOEXEC, 0);
          int length = SocketAddress.write(to.address(), address);
          require(Libc.connect(fd, to.address(), length) == 0, "connect");
          return List.of(new NativeSocket(fd, "client"), listener.accept());
        }
      }
    };

    /** Returns the client's end and the server's. */
    abstract List<NativeSocket> connect() throws IOException, ServerException;
  }

  /** The lab's machine, where {@link #main} runs, has no library of assertions. */
  private static void require(boolean condition, String what) {
    if (!condition) {
      throw new AssertionError(what);
    }
  }

  private static int nasty(Random random) {
    int[] sizes = {0, 8, 12, 15, 17, -1, -16, Integer.MIN_VALUE, Integer.MAX_VALUE};
    int which = random.nextInt(sizes.length + 2);
    return which < sizes.length
        ? sizes[which]
        : which == sizes.length ? random.nextInt() : Channel.MAX_RECORD + 8;
  }

  /** Sends a part of the memory. Returns false if the server does not take it. */
  private static boolean send(NativeSocket client, long address, int bytes) {
    try {
      return client.sendAll(address, bytes, System.nanoTime() + PATIENCE);
    } catch (IOException e) {
      return false;
    }
  }

  /** One record, mostly a right one. Returns false when the client leaves. */
  private static boolean write(NativeSocket client, Random random, long memory, int hostility) {
    int bytes = 16 + 8 * random.nextInt(random.nextInt(20) == 0 ? 20_000 : 60);
    for (int at = 0; at < bytes; at += 8) {
      Memory.putLong(memory + at, random.nextLong());
    }
    int what = random.nextInt(1000);
    Memory.putInt(memory, what < hostility ? nasty(random) : bytes);
    if (what > 990) { // in the middle of a record
      send(client, memory, random.nextInt(bytes));
      return false;
    }
    int first = what < 500 ? bytes : random.nextInt(bytes);
    return send(client, memory, first) && send(client, memory + first, bytes - first);
  }

  /** Takes some of the answers, or none. Returns whether the connection is still there. */
  private static boolean take(NativeSocket client, Random random, long memory, int most) {
    try {
      return random.nextBoolean() || client.tryReceive(memory, most) != NativeSocket.END;
    } catch (IOException e) {
      return false;
    }
  }

  @ParameterizedTest
  @EnumSource
  void aHostileStreamEndsItsSessionAlone(Stream stream) throws Exception {
    try {
      attack(stream);
    } catch (ServerException e) {
      abort("this kernel has no loopback for vsock: " + e.getMessage());
    }
  }

  /** Attacks over vsock, as {@code lab/test --units} does on a kernel that has its loopback. */
  public static void main(String[] arguments) throws Exception {
    attack(Stream.VSOCK);
  }

  private static void attack(Stream stream) throws Exception {
    long records = 0;
    int violations = 0;
    for (int session = 0; session < SESSIONS; session++) {
      Random random = new Random(session);
      List<NativeSocket> ends = stream.connect();
      NativeSocket client = ends.get(0);
      SocketTransport transport = new SocketTransport(ends.get(1));
      CompletableFuture<RingAttackTest.End> server =
          CompletableFuture.supplyAsync(() -> RingAttackTest.serve(transport));
      try (Scratch memory = new Scratch(1 << 18)) {
        boolean goesOn = true;
        for (int i = 0; i < WRITES && goesOn && !server.isDone(); i++) {
          goesOn =
              write(client, random, memory.address(), session % 3 * 5)
                  && take(client, random, memory.address(), 1 << 18);
        }
      }
      client.close();
      RingAttackTest.End end = server.get(60, TimeUnit.SECONDS);
      transport.close();
      records += end.records();
      violations += end.byViolation() ? 1 : 0;
    }
    System.out.printf(
        "%s: %d sessions executed %d records; %d ended by a protocol error%n",
        stream, SESSIONS, records, violations);
    require(records > 0, "no record was executed");
    require(violations > 0, "no session ended by a protocol error");
  }
}
