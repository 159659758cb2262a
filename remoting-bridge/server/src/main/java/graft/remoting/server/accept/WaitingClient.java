package graft.remoting.server.accept;

import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.protocol.HandshakeStatus;
import graft.remoting.server.system.NativeSocket;
import java.io.IOException;
import java.time.Duration;

/**
 * A client that waits for a place. A client that understands it is told why it waits, once it has
 * waited for more than a moment, and again from time to time.
 */
final class WaitingClient implements SessionPlaces.Client {
  private static final Duration FIRST = Duration.ofSeconds(3);

  /** Less than the time for which a client waits without hearing anything. */
  private static final Duration NEXT = Duration.ofSeconds(10);

  private static final Duration SEND_LIMIT = Duration.ofSeconds(1);

  private final NativeSocket socket;
  private final HandshakeMessages.Hello hello;
  private final Runnable onWait;
  private long tellAt;

  /**
   * A client that may have to wait.
   *
   * @param onWait is called before the client waits
   */
  WaitingClient(NativeSocket socket, HandshakeMessages.Hello hello, Runnable onWait) {
    this.socket = socket;
    this.hello = hello;
    this.onWait = onWait;
  }

  @Override
  public void waits() {
    tellAt = System.nanoTime() + FIRST.toNanos();
    onWait.run();
  }

  @Override
  public void stillWaits(String why) throws IOException {
    if (socket.isGone()) {
      throw new IOException("the client left while it waited for a place");
    }
    long now = System.nanoTime();
    if (!hello.hearsOfWaits() || now - tellAt < 0) {
      return;
    }
    tellAt = now + NEXT.toNanos();
    byte[] message = HandshakeMessages.refusal(HandshakeStatus.WAITING, why);
    try {
      Handshake.send(socket, message, now + SEND_LIMIT.toNanos());
    } catch (HandshakeException e) {
      throw new IOException(e.getMessage(), e);
    }
  }
}
