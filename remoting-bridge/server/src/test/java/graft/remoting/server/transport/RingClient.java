package graft.remoting.server.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.device.Memory;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

/**
 * The client's end of two rings, written from client/src/transport/ring.h. The server's end may see
 * the rings at another address.
 */
final class RingClient {
  private static final int TAIL = 64;
  private static final int ASLEEP = 128;

  private final Rings rings;
  private final NativeSocket socket;

  RingClient(Rings rings, NativeSocket socket) {
    this.rings = rings;
    this.socket = socket;
  }

  /** Sends bytes that the server's end returns, many times around both rings, and disconnects. */
  void exchange(RingTransport transport, int bytes) throws Exception {
    byte[] sent = new byte[bytes];
    new Random(1).nextBytes(sent);
    CompletableFuture<Void> echo = CompletableFuture.runAsync(() -> echo(transport));
    byte[] got = new byte[sent.length];
    int out = 0;
    int in = 0;
    while (in < got.length) {
      long at = out % rings.bytes();
      long room = rings.bytes() - (out - Memory.getLongVolatile(rings.requests() + TAIL));
      int take = (int) Math.min(Math.min(room, sent.length - out), rings.bytes() - at);
      if (take > 0) {
        Memory.write(rings.requestsData() + at, sent, out, take);
        out += take;
        Memory.putLongVolatile(rings.requests(), out);
        if (Memory.compareAndSwapInt(rings.requests() + ASLEEP, 1, 0)) {
          Doorbell.of(socket).ring();
        }
      }
      long from = in % rings.bytes();
      long have = Memory.getLongVolatile(rings.answers()) - in;
      int read = (int) Math.min(have, rings.bytes() - from);
      if (read > 0) {
        Memory.read(rings.answersData() + from, got, in, read);
        in += read;
        Memory.putLongVolatile(rings.answers() + TAIL, in);
      }
    }
    assertThat(got).isEqualTo(sent);
    socket.shutdown();
    echo.get();
  }

  private static void echo(RingTransport transport) {
    try (Scratch buffer = new Scratch(100_000)) {
      long count;
      while ((count = transport.receive(buffer.address(), 100_000)) != Transport.END) {
        transport.sendAll(buffer.address(), count, false);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Writes a false position. */
  void lie(RingTransport transport) {
    long size = rings.bytes();
    try (Scratch buffer = new Scratch(64)) {
      for (long head : new long[] {-1, size + 1, Long.MIN_VALUE, Long.MAX_VALUE}) {
        Memory.putLongVolatile(rings.requests(), head);
        assertThatThrownBy(() -> transport.tryReceive(buffer.address(), 64))
            .isInstanceOf(ProtocolException.class);
      }
      for (long tail : new long[] {-1 - size, 1, Long.MIN_VALUE, Long.MAX_VALUE}) {
        Memory.putLongVolatile(rings.answers() + TAIL, tail);
        assertThatThrownBy(() -> transport.sendAll(buffer.address(), 64, false))
            .isInstanceOf(ProtocolException.class);
      }
    }
  }
}
