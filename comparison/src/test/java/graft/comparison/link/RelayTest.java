package graft.comparison.link;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.values.Endpoint;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A relay before a server that sends everything back. The bounds of times are lower ones, since a
 * busy machine adds to them.
 */
@Timeout(120)
final class RelayTest {
  private static final RoundTrip TIME = RoundTrip.parse("40ms");
  private ServerSocket listener;
  private Thread server;

  @BeforeEach
  void listen() throws IOException {
    listener = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
    server = new Thread(this::echo, "echo");
    server.setDaemon(true);
    server.start();
  }

  /** Ends the server: a thread that is within accept may take one more connection until it ends. */
  @AfterEach
  void stop() throws IOException, InterruptedException {
    listener.close();
    server.join();
  }

  private void echo() {
    try {
      while (true) {
        Socket client = listener.accept();
        RelayDirection.daemon(() -> echo(client));
      }
    } catch (IOException e) {
      // the test is over
    }
  }

  private static void echo(Socket client) {
    try (client) {
      client.getInputStream().transferTo(client.getOutputStream());
    } catch (IOException e) {
      // the test is over
    }
  }

  private Relay relay(String rate) throws IOException {
    Endpoint server = Endpoint.parse("tcp://127.0.0.1:" + listener.getLocalPort());
    return Relay.before(server, TIME, Optional.ofNullable(rate).map(LinkRate::parse));
  }

  private static Socket connect(Relay relay) throws IOException {
    Socket socket =
        new Socket(InetAddress.getLoopbackAddress(), Endpoint.parse(relay.url()).port());
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(100_000); // an interrupt, by which a test's time ends, ends no read
    return socket;
  }

  private static long nanoseconds(Socket socket, byte[] bytes) throws IOException {
    long begin = System.nanoTime();
    RelayDirection.daemon(
        () -> {
          try {
            socket.getOutputStream().write(bytes);
          } catch (IOException e) {
            // the reading end fails
          }
        });
    assertThat(socket.getInputStream().readNBytes(bytes.length)).isEqualTo(bytes);
    return System.nanoTime() - begin;
  }

  @Test
  void everyExchangeTakesARoundTripAndTheFirstOneMoreForTheConnection() throws Exception {
    try (Relay relay = relay(null)) {
      long begin = System.nanoTime();
      try (Socket socket = connect(relay)) {
        nanoseconds(socket, new byte[] {1});
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(2 * TIME.nanoseconds());
        assertThat(nanoseconds(socket, new byte[] {2})).isGreaterThanOrEqualTo(TIME.nanoseconds());
      }
    }
  }

  @Test
  void theRateHoldsForAllConnectionsTogether() throws Exception {
    byte[] bytes = new byte[50_000]; // 50 ms at 8 Mbit/s
    new Random(1).nextBytes(bytes);
    try (Relay relay = relay("8Mbit");
        Socket one = connect(relay);
        Socket other = connect(relay)) {
      long begin = System.nanoTime();
      one.getOutputStream().write(bytes);
      other.getOutputStream().write(bytes);
      assertThat(one.getInputStream().readNBytes(bytes.length)).isEqualTo(bytes);
      assertThat(other.getInputStream().readNBytes(bytes.length)).isEqualTo(bytes);
      assertThat(System.nanoTime() - begin)
          .isGreaterThanOrEqualTo(100_000_000 + TIME.nanoseconds());
    }
  }

  @Test
  void manyBytesArriveAsTheyWere() throws Exception {
    byte[] bytes = new byte[20 << 20];
    new Random(2).nextBytes(bytes);
    try (Relay relay = relay(null);
        Socket socket = connect(relay)) {
      nanoseconds(socket, bytes);
    }
  }

  @Test
  void anEndOfAStreamIsPassedOnBehindItsData() throws Exception {
    try (Relay relay = relay(null);
        Socket socket = connect(relay)) {
      socket.getOutputStream().write(new byte[] {1, 2, 3});
      socket.shutdownOutput();
      assertThat(socket.getInputStream().readAllBytes()).isEqualTo(new byte[] {1, 2, 3});
    }
  }

  @Test
  void aServerThatIsGoneEndsTheConnection() throws Exception {
    try (Relay relay = relay(null)) {
      stop();
      try (Socket socket = connect(relay)) {
        assertThat(ends(socket)).isTrue();
      }
    }
  }

  @Test
  void closingTheRelayEndsItsConnections() throws Exception {
    Relay relay = relay(null);
    try (Socket socket = connect(relay)) {
      nanoseconds(socket, new byte[] {1});
      relay.close();
      assertThat(ends(socket)).isTrue();
    }
  }

  private static boolean ends(Socket socket) {
    try {
      return socket.getInputStream().read() < 0;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true;
    }
  }
}
