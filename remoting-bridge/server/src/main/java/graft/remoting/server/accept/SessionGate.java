package graft.remoting.server.accept;

import graft.common.grants.Grant;
import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.exchange.SessionLimits;
import graft.remoting.server.health.GpuHealth;
import graft.remoting.server.pool.GuestUses;
import graft.remoting.server.pool.ServedSession;
import graft.remoting.server.pool.ServerAudit;
import graft.remoting.server.pool.ServerMetrics;
import graft.remoting.server.pool.SessionLog;
import graft.remoting.server.pool.Worker;
import graft.remoting.server.pool.WorkerPool;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.protocol.HandshakeMessages.Hello;
import graft.remoting.server.protocol.HandshakeStatus;
import graft.remoting.server.share.GpuShares;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.ServerException;
import graft.remoting.server.transport.Tls;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands an authenticated client to a worker, or hands its further connection to the worker that
 * serves its session.
 */
public final class SessionGate {
  private static final Logger LOG = LoggerFactory.getLogger(SessionGate.class);

  /**
   * How long a client waits for a worker that has to be started, on a slow host beside others; less
   * than the client's own limit (WORKER_MILLISECONDS in handshake.c).
   */
  private static final Duration WORKER_LIMIT = Duration.ofSeconds(100);

  private static final int ATTEMPTS = 3;

  private final WorkerPool pool;
  private final DeviceSpec device;
  private final SessionLimits limits;
  private final GuestUses uses;
  private final GpuShares shares;
  private final GpuHealth health;
  private final SessionPlaces places;
  private final ServerMetrics metrics;
  private final ServerAudit audit;
  private final PeerDialer peers;
  private final SecureRandom random = new SecureRandom();

  /**
   * Creates the gate.
   *
   * @param device the device of clients whose grant names none
   * @param limits the limits of sessions; a grant may name others of device memory
   * @param uses counts what the sessions of each guest use together
   * @param shares gives sessions the time of their devices
   * @param health knows which devices take no new sessions
   * @param peers connects sessions to those of other servers
   */
  public SessionGate(
      WorkerPool pool,
      DeviceSpec device,
      SessionLimits limits,
      GuestUses uses,
      GpuShares shares,
      GpuHealth health,
      SessionPlaces places,
      ServerMetrics metrics,
      ServerAudit audit,
      PeerDialer peers) {
    this.pool = pool;
    this.device = device;
    this.limits = limits;
    this.uses = uses;
    this.shares = shares;
    this.health = health;
    this.places = places;
    this.metrics = metrics;
    this.audit = audit;
    this.peers = peers;
  }

  /**
   * Reserves the place of a session for an authenticated client. Further connections of a session
   * need no place.
   *
   * @param client is told that it has to wait
   * @throws HandshakeException when the client may not connect this way, or no place is free; the
   *     message is sent to the client
   */
  SessionPlaces.Place reserve(
      NativeSocket socket, Handshake.Accepted accepted, SessionPlaces.Client client)
      throws IOException, HandshakeException, ServerException {
    checkPeer(socket, accepted.grant());
    checkEncryption(socket, accepted);
    if (accepted.hello().kind() == HandshakeMessages.KIND_SESSION) {
      checkHealth(wanted(accepted.grant())); // before the client waits for a place
    }
    return switch (accepted.hello().kind()) {
      case HandshakeMessages.KIND_SESSION -> places.reserve(accepted.grant(), client);
      case HandshakeMessages.KIND_CONNECTION, HandshakeMessages.KIND_PEER ->
          new SessionPlaces.Place(accepted.grant(), () -> {});
      default ->
          throw new HandshakeException(
              HandshakeStatus.MALFORMED, "a connection of unknown kind " + accepted.hello().kind());
    };
  }

  /**
   * Hands the connection over; the caller closes its own descriptor afterwards.
   *
   * @param grant what the client may use now
   * @throws HandshakeException if the connection cannot be served; the message is sent to the
   *     client
   */
  void enter(NativeSocket socket, Handshake.Accepted accepted, Grant grant)
      throws IOException, HandshakeException {
    if (accepted.hello().kind() == HandshakeMessages.KIND_SESSION) {
      begin(socket, accepted, grant);
    } else {
      join(socket, accepted);
    }
  }

  private void begin(NativeSocket socket, Handshake.Accepted accepted, Grant grant)
      throws IOException, HandshakeException {
    int channel = accepted.hello().channel();
    checkChannel(channel, socket, grant);
    DeviceSpec wanted = wanted(grant);
    checkHealth(wanted);
    WorkerKind kind =
        new WorkerKind(
            wanted,
            channel == HandshakeMessages.CHANNEL_RDMA,
            accepted.hello().addresses(),
            accepted.hello().gpuConnections());
    long id = newId();
    GuestUses.Slot slot = uses.take(grant.name());
    GpuShares.SessionLease lease = null;
    boolean begun = false;
    try (GuestMemory memory = GuestMemory.open(channel, grant, pool)) {
      lease = shares.open(grant.name(), wanted);
      List<Integer> fds = new ArrayList<>(List.of(socket.fd(), slot.fd(), lease.page().fd()));
      fds.addAll(memory.fds());
      SessionLimits its =
          limits
              .withMemory(grant.memory().orElse(limits.memory()))
              .withGuestMemory(grant.guestMemory().orElse(limits.guestMemory()));
      ControlMessage.StartSession start =
          new ControlMessage.StartSession(
              id,
              grant.name(),
              its,
              uses.slots(),
              slot.number(),
              channel,
              accepted.hello().apiHash(),
              memory.terms(),
              memory.problem(),
              welcome(id, accepted),
              accepted.tlsKey());
      ServedSession.Client client =
          new ServedSession.Client(
              grant.name(), socket.peer(), channel(channel, socket), grant.fingerprint(), its);
      GpuShares.SessionLease given = lease;
      Supplier<ServedSession> session =
          () -> new ServedSession(id, accepted.sessionSecret(), client, wanted, given.page());
      begin(kind, session, start, fds, given, () -> release(slot, given));
      begun = true;
    } finally {
      if (!begun) {
        release(slot, lease);
      }
    }
  }

  private DeviceSpec wanted(Grant grant) {
    return grant.device().isPresent() ? device.withIndex(grant.device().getAsInt()) : device;
  }

  private void checkHealth(DeviceSpec wanted) throws HandshakeException {
    Optional<String> problem = health.problem(wanted);
    if (problem.isPresent()) {
      throw new HandshakeException(
          HandshakeStatus.NO_WORKER, "the GPU takes no new sessions: " + problem.get());
    }
  }

  /** Returns what docs/glossary.md calls the channel. */
  private static String channel(int channel, NativeSocket socket) throws IOException {
    return switch (channel) {
      case HandshakeMessages.CHANNEL_SHARED_MEMORY -> "shm";
      case HandshakeMessages.CHANNEL_GUEST_MEMORY -> "ivshmem";
      case HandshakeMessages.CHANNEL_RDMA -> "rdma";
      case HandshakeMessages.CHANNEL_VCHAN -> "vchan";
      default -> socket.isLocal() ? "unix" : socket.peerCid().isPresent() ? "vsock" : "tcp";
    };
  }

  private void release(GuestUses.Slot slot, GpuShares.SessionLease lease) {
    uses.release(slot);
    if (lease != null) {
      lease.close();
    }
  }

  private void begin(
      WorkerKind kind,
      Supplier<ServedSession> sessions,
      ControlMessage.StartSession start,
      List<Integer> fds,
      GpuShares.SessionLease lease,
      Runnable atEnd)
      throws HandshakeException {
    String reason = "";
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      ServedSession session = sessions.get();
      try {
        boolean isNewcomer = pool.serving(s -> s.name().equals(session.name())).isEmpty();
        Worker worker = pool.take(kind, isNewcomer, WORKER_LIMIT);
        session.onEnd(atEnd);
        session.onAsk(lease::ask);
        session.onOpenPeer(peers.forSession(worker::control));
        lease.begin(worker.uuid());
        lease.onOverrun(() -> endOverrun(worker, session));
        session.uuid(worker.uuid());
        metrics.sessionStarted(session); // before the worker can end
        worker.start(session, start, fds);
        lease.connect(worker.control());
        audit.connected(session);
        SessionLog.started(session);
        // For a problem that came up while the worker started, GpuProblems did not see this
        // session.
        health
            .problem(session.device())
            .ifPresent(problem -> worker.endSessionSoon(GpuProblems.reason(problem)));
        return;
      } catch (ServerException e) {
        throw new HandshakeException(HandshakeStatus.NO_WORKER, e.getMessage());
      } catch (IOException e) {
        session.onEnd(() -> {});
        // The worker died while it was a spare; the next one is tried.
        reason = e.getMessage();
      }
    }
    throw new HandshakeException(HandshakeStatus.NO_WORKER, reason);
  }

  private void endOverrun(Worker worker, ServedSession session) {
    String reason =
        "its work kept the GPU from other guests for longer than the watchdog allows: "
            + shares.watchdog().toSeconds()
            + " s";
    LOG.warn("{}: session {} is ended: {}", session.name(), session.number(), reason);
    metrics.watchdogEnded();
    worker.endSessionSoon(reason);
  }

  /** The hypervisor sets a guest's context id, and the guest cannot change it. */
  private static void checkPeer(NativeSocket socket, Grant grant)
      throws IOException, HandshakeException {
    OptionalLong cid = socket.peerCid();
    if (cid.isPresent() && grant.cid().isPresent() && !cid.equals(grant.cid())) {
      throw new HandshakeException(
          HandshakeStatus.REFUSED,
          grant.name() + " has context id " + grant.cid().getAsLong() + ", not this connection's");
    }
  }

  /**
   * The server decides by the peer's address whether the connection must be encrypted. The client
   * decides for itself; both proofs cover what it has chosen.
   */
  private static void checkEncryption(NativeSocket socket, Handshake.Accepted accepted)
      throws IOException, HandshakeException {
    if (accepted.hello().isEncrypted()) {
      Optional<String> obstacle = Tls.obstacle();
      if (obstacle.isPresent()) {
        throw noChannel("the server's machine cannot encrypt: " + obstacle.get());
      }
    } else if (socket.leavesMachine() && !accepted.grant().mayBePlaintext()) {
      throw noChannel(
          "connections from other machines have to be encrypted: remove 'encryption = never' from"
              + " the client's configuration, or allow it with encryption=optional in the"
              + " server's tokens file");
    }
  }

  private static void checkChannel(int channel, NativeSocket socket, Grant grant)
      throws IOException, HandshakeException {
    switch (channel) {
      case HandshakeMessages.CHANNEL_SOCKET, HandshakeMessages.CHANNEL_RDMA -> {}
      case HandshakeMessages.CHANNEL_SHARED_MEMORY -> {
        if (!socket.isLocal()) {
          throw noChannel("shm is served on the server's Unix socket only");
        }
      }
      case HandshakeMessages.CHANNEL_GUEST_MEMORY -> {
        if (grant.region().isEmpty()) {
          throw noChannel("the server knows of no memory that it shares with " + grant.name());
        }
      }
      case HandshakeMessages.CHANNEL_VCHAN -> {
        if (grant.domain().isEmpty()) {
          throw noChannel("the server knows of no domain of Xen that is " + grant.name());
        }
      }
      default -> throw noChannel("this server has no channel " + channel);
    }
  }

  private static HandshakeException noChannel(String why) {
    return new HandshakeException(HandshakeStatus.NO_CHANNEL, why);
  }

  private void join(NativeSocket socket, Handshake.Accepted accepted)
      throws IOException, HandshakeException {
    Hello hello = accepted.hello();
    Worker worker = pool.find(hello.sessionId(), accepted.grant().name());
    if (worker == null) {
      throw new HandshakeException(
          HandshakeStatus.NO_SESSION, "the session that this connection is for has ended");
    }
    Bytes welcome = welcome(hello.sessionId(), accepted);
    ControlMessage message =
        hello.kind() == HandshakeMessages.KIND_PEER
            ? new ControlMessage.AddPeer(hello.channel(), welcome, accepted.tlsKey())
            : new ControlMessage.AddConnection(hello.channel(), welcome, accepted.tlsKey());
    worker.control().sendAtOnce(message, List.of(socket.fd()));
  }

  private static Bytes welcome(long id, Handshake.Accepted accepted) {
    return Bytes.of(HandshakeMessages.welcome(id, accepted.serverProof().array()));
  }

  private long newId() {
    long id;
    do {
      id = random.nextLong();
    } while (id == 0);
    return id;
  }
}
