package graft.remoting.server.transport;

import graft.remoting.device.Memory;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.time.Duration;

/**
 * How a worker and a client in a Xen guest agree on shared pages, after WELCOME. Sizes and offsets
 * are in bytes.
 *
 * <pre>
 * GREETING    4  magic
 * ANSWER    128  0 magic, 4 status (if not 0, the connection ends), 8 this domain's number, 12 the event channel's
 *                port, 16 the number of pages, 20 message[108]
 * PAGES          after a status of 0: the grant reference of each page (u32)
 * </pre>
 */
public final class VchanHandshake {
  static final int MAGIC = 0x58535247;
  static final int ANSWER = 128;
  private static final int MESSAGE = 20;

  private VchanHandshake() {}

  /**
   * Shares the pages that the server allocated with the guest. TLS ends then, since the rings are
   * memory of this machine.
   *
   * @param offer the pages; null if there are none
   * @param problem why there are none
   * @throws IOException if the pages cannot be shared; the client has been told why
   * @throws ProtocolException if the client's request does not arrive in time or is invalid
   */
  public static RingTransport agree(
      NativeSocket socket, VchanOffer offer, String problem, Duration limit) throws IOException {
    try (Scratch greeting = new Scratch(4)) {
      if (!socket.receiveAll(greeting.address(), 4, System.nanoTime() + limit.toNanos())
          || Memory.getInt(greeting.address()) != MAGIC) {
        throw new ProtocolException("the client does not ask for pages to share");
      }
    }
    if (offer == null) {
      socket.sendAll(answer(0, 0, problem));
      throw new IOException(problem);
    }
    Rings rings;
    try {
      rings = GrantedPages.map(offer.grants(), offer.offset());
    } catch (IOException e) {
      socket.sendAll(answer(0, 0, e.getMessage()));
      throw e;
    } finally {
      Libc.close(offer.grants());
    }
    socket.sendAll(answer(offer.self(), offer.port(), ""));
    socket.sendAll(offer.references().array());
    TlsSocket.endTls(socket);
    return new RingTransport(EventChannel.of(offer.events(), offer.port(), socket), rings);
  }

  private static byte[] answer(int domain, int port, String problem) {
    try (Scratch answer = new Scratch(ANSWER)) {
      long memory = answer.address();
      Memory.putInt(memory, MAGIC);
      Memory.putInt(memory + 4, problem.isEmpty() ? 0 : 1);
      Memory.putInt(memory + 8, domain);
      Memory.putInt(memory + 12, port);
      Memory.putInt(memory + 16, GrantedPages.COUNT);
      HandshakeMessages.write(problem, memory + MESSAGE, ANSWER - MESSAGE);
      return answer.bytes(0, ANSWER);
    }
  }
}
