package graft.remoting.server.accept;

import graft.remoting.device.Memory;
import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.ControlSocket;
import graft.remoting.server.exchange.PeerTicket;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.protocol.HandshakeMessages.Hello;
import graft.remoting.server.protocol.HandshakeStatus;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.OutgoingConnection;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.transport.Tls;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects sessions of this server to sessions of other servers, for copies between their devices.
 * A guest's worker asks with a ticket, which names no address: the dialer tries the peers that the
 * operator has named, and only the one that has the ticket's session accepts. The other server may
 * send anything; what it sends before it has proved that it knows the ticket is of fixed size.
 */
public final class PeerDialer {
  private static final Logger LOG = LoggerFactory.getLogger(PeerDialer.class);

  /** Shorter than a worker waits for the answer. */
  private static final Duration LIMIT = Duration.ofSeconds(7);

  private static final Duration LIMIT_OF_ONE = Duration.ofSeconds(3);

  /** How often a session may ask: a program has seven servers at most. */
  private static final int MOST_REQUESTS = 8;

  private static final int NONCE_AT = 16;
  private static final int PROOF_AT = 16;

  private final List<ListenAddress> peers;
  private final long apiHash;
  private final SecureRandom random = new SecureRandom();

  /**
   * Creates a dialer.
   *
   * @param peers the addresses that sessions may be connected to
   * @param apiHash the hash of the server's API description
   */
  public PeerDialer(List<ListenAddress> peers, long apiHash) {
    this.peers = List.copyOf(peers);
    this.apiHash = apiHash;
  }

  /** A connection that has authenticated. */
  private record Dialled(NativeSocket socket, Bytes tlsKey) {}

  /**
   * Returns what answers the requests of one session, each on a thread of its own, one at a time.
   * Requests beyond the most that a session may make are refused.
   */
  Consumer<ControlMessage.OpenPeer> forSession(Supplier<ControlSocket> worker) {
    AtomicInteger requests = new AtomicInteger();
    AtomicBoolean isDialling = new AtomicBoolean();
    return request -> {
      boolean refused =
          peers.isEmpty()
              || isDialling.get()
              || requests.incrementAndGet() > MOST_REQUESTS
              || request.ticket().session() == 0;
      if (refused) {
        answer(worker.get(), false);
        return;
      }
      isDialling.set(true);
      Runnable task =
          () -> {
            boolean opened = open(request, worker.get());
            isDialling.set(false); // before the worker asks again
            answer(worker.get(), opened);
          };
      Thread thread = new Thread(null, task, "graft-peer-dial", 256 * 1024);
      thread.setDaemon(true);
      thread.start();
    };
  }

  private static void answer(ControlSocket worker, boolean opened) {
    byte[] bytes = opened ? new byte[1] : new byte[0];
    try {
      worker.sendAtOnce(new ControlMessage.Shared(Bytes.of(bytes)), List.of());
    } catch (IOException e) {
      LOG.debug("a worker has ended: {}", e.getMessage());
    }
  }

  /** Opens several connections to the peer that has the session: one TCP stream carries less. */
  private boolean open(ControlMessage.OpenPeer request, ControlSocket worker) {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    for (ListenAddress peer : peers) {
      int opened = 0;
      try {
        while (opened < connections() && System.nanoTime() < deadline) {
          Dialled dialled = dial(peer, request, deadline);
          try (NativeSocket socket = dialled.socket()) {
            worker.sendAtOnce(
                new ControlMessage.AddPeer(request.link(), Bytes.NONE, dialled.tlsKey()),
                List.of(socket.fd()));
          }
          opened++;
        }
      } catch (IOException e) {
        LOG.debug("no link to {}: {}", peer, e.getMessage());
      }
      if (opened > 0) {
        return true;
      }
    }
    return false;
  }

  /** As many as a client makes for bulk data. */
  private static int connections() {
    int processors = Runtime.getRuntime().availableProcessors();
    return processors >= 16 ? 6 : processors >= 8 ? 4 : processors >= 4 ? 2 : 1;
  }

  private Dialled dial(ListenAddress peer, ControlMessage.OpenPeer request, long latest)
      throws IOException {
    long deadline = Math.min(latest, System.nanoTime() + LIMIT_OF_ONE.toNanos());
    NativeSocket socket = OutgoingConnection.connect(peer, LIMIT_OF_ONE);
    try {
      return authenticate(socket, request, deadline);
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  private Dialled authenticate(NativeSocket socket, ControlMessage.OpenPeer request, long deadline)
      throws IOException {
    PeerTicket ticket = request.ticket();
    boolean encrypted = socket.leavesMachine();
    if (encrypted && Tls.obstacle().isPresent()) {
      throw new IOException("this machine cannot encrypt: " + Tls.obstacle().get());
    }
    byte[] nonce = new byte[HandshakeMessages.NONCE];
    random.nextBytes(nonce);
    Hello hello =
        Hello.ofPeer(
            apiHash, Bytes.of(nonce), ticket.name(), encrypted, request.link(), ticket.session());
    send(socket, hello.encode(), deadline);
    ByteBuffer challenge = receive(socket, HandshakeMessages.CHALLENGE, deadline);
    if (challenge.getInt(0) != HandshakeMessages.MAGIC
        || challenge.getInt(4) != HandshakeStatus.OK.code()) {
      throw new IOException("it is no Graft server of this release");
    }
    byte[] serverNonce = new byte[HandshakeMessages.NONCE];
    challenge.get(NONCE_AT, serverNonce);
    byte[] secret = ticket.secret().array();
    send(socket, Proofs.client(secret, hello, serverNonce), deadline);
    ByteBuffer welcome = receive(socket, HandshakeMessages.WELCOME, deadline);
    byte[] proof = new byte[HandshakeMessages.PROOF];
    welcome.get(PROOF_AT, proof);
    if (welcome.getInt(0) != HandshakeStatus.OK.code()
        || !MessageDigest.isEqual(proof, Proofs.server(secret, hello, serverNonce))) {
      throw new IOException("it does not have that session");
    }
    byte[] key = encrypted ? Proofs.tls(secret, hello, serverNonce) : new byte[0];
    return new Dialled(socket, Bytes.of(key));
  }

  private static void send(NativeSocket socket, byte[] message, long deadline) throws IOException {
    try (Scratch scratch = Scratch.of(message)) {
      if (!socket.sendAll(scratch.address(), message.length, deadline)) {
        throw new IOException("it does not read");
      }
    }
  }

  private static ByteBuffer receive(NativeSocket socket, int length, long deadline)
      throws IOException {
    try (Scratch scratch = new Scratch(length)) {
      if (!socket.receiveAll(scratch.address(), length, deadline)) {
        throw new IOException("it has ended the connection, or does not answer");
      }
      byte[] message = new byte[length];
      Memory.read(scratch.address(), message, 0, length);
      return ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
    }
  }
}
