package graft.remoting.server.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.device.Memory;
import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Listener;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.system.SocketAddress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The part of the channel {@code vchan} that does not need Xen: a socket stands for the doorbell,
 * and plain memory for the pages. The test implements the client's end from
 * client/src/transport/vchan.h. The lab tests the channel with Xen.
 */
@Timeout(120)
class VchanTest {
  private static final int RING = 1 << 20;
  private static final int ANSWERS = 2048;
  private static final int REQUESTS_DATA = 4096;
  private static final int ANSWERS_DATA = REQUESTS_DATA + RING;
  private static final long BYTES = ANSWERS_DATA + RING;

  @TempDir Path folder;
  private final long memory = Memory.allocate(BYTES);
  private Listener listener;
  private NativeSocket client;
  private NativeSocket server;

  @BeforeEach
  void connect() throws Exception {
    Memory.fill(memory, BYTES, (byte) 0);
    Path path = folder.resolve("s");
    listener = Listener.openUnix(path, Libc.SOCK_STREAM);
    int fd = Libc.socket(Libc.AF_UNIX, Libc.SOCK_STREAM, 0);
    try (Scratch address = new Scratch(SocketAddress.CAPACITY)) {
      assertThat(Libc.connect(fd, address.address(), SocketAddress.write(address.address(), path)))
          .isZero();
    }
    client = new NativeSocket(fd, "client");
    server = listener.accept();
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
    listener.close();
    Memory.free(memory);
  }

  private RingTransport transport() {
    return new RingTransport(Doorbell.of(server), Rings.granted(memory));
  }

  /** The layout as numbers, because Rings is the server's own code. */
  private RingClient client() {
    return new RingClient(
        new Rings(memory, memory + REQUESTS_DATA, memory + ANSWERS, memory + ANSWERS_DATA, RING),
        client);
  }

  @Test
  void bytesGoThroughBothRingsManyTimesAround() throws Exception {
    RingTransport transport = transport();
    assertThat(transport.region()).isNull();
    client().exchange(transport, 5_000_003);
  }

  @Test
  void positionsThatCannotBeAreProtocolErrors() {
    client().lie(transport());
  }

  /** The ring is full and stays full. */
  @Test
  void aClientThatGoesWhileTheServerSendsIsSeen() throws Exception {
    RingTransport transport = transport();
    CompletableFuture<Void> send =
        CompletableFuture.runAsync(
            () -> {
              try (Scratch data = new Scratch(2 * RING)) {
                transport.sendAll(data.address(), 2 * RING, false);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    while (Memory.getLongVolatile(memory + ANSWERS) < RING) {
      Thread.onSpinWait();
    }
    client.shutdown();
    assertThatThrownBy(send::get).hasRootCauseMessage("the client has disconnected");
  }

  @Test
  void aClientIsToldWhyNothingIsShared() throws Exception {
    try (Scratch message = new Scratch(128)) {
      Memory.putInt(message.address(), 0x58535247);
      client.sendAll(message.address(), 4, false);
      assertThatThrownBy(
              () -> VchanHandshake.agree(server, null, "no such domain", Duration.ofSeconds(5)))
          .isInstanceOf(IOException.class);
      assertThat(client.receiveAll(message.address(), 128, System.nanoTime() + 5_000_000_000L))
          .isTrue();
      assertThat(Memory.getInt(message.address())).isEqualTo(0x58535247);
      assertThat(Memory.getInt(message.address() + 4)).isEqualTo(1);
      assertThat(HandshakeMessages.text(message.bytes(20, 108))).isEqualTo("no such domain");
    }
  }

  @Test
  void whatTheServerOffersReachesTheWorker() throws Exception {
    byte[] references = new byte[4 * GrantedPages.COUNT];
    references[5] = 7;
    VchanOffer offer = new VchanOffer(3, 41, 1L << 40, Bytes.of(references), 8, 9);
    assertThat(offer.encode().array().length).isLessThan(ControlMessage.MAX / 2);
    assertThat(VchanOffer.decode(offer.encode(), 8, 9)).isEqualTo(offer);
    Bytes shorter = Bytes.of(Arrays.copyOf(offer.encode().array(), 100));
    assertThatThrownBy(() -> VchanOffer.decode(shorter, 8, 9))
        .hasMessageContaining("other pages than those of this version");
  }

  @Test
  void aGreetingOfAnotherKindIsRefused() throws Exception {
    try (Scratch message = new Scratch(4)) {
      client.sendAll(message.address(), 4, false);
      assertThatThrownBy(() -> VchanHandshake.agree(server, null, "", Duration.ofSeconds(5)))
          .isInstanceOf(ProtocolException.class);
      client.shutdown();
      assertThatThrownBy(() -> VchanHandshake.agree(server, null, "", Duration.ofSeconds(5)))
          .isInstanceOf(ProtocolException.class);
    }
  }
}
