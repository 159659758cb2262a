package graft.remoting.server.worker;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.device.Memory;
import graft.remoting.server.backend.Backend;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.connection.StreamChannel;
import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.ControlSocket;
import graft.remoting.server.exchange.ContentExchange;
import graft.remoting.server.exchange.GpuLease;
import graft.remoting.server.exchange.GuestProgram;
import graft.remoting.server.exchange.GuestUse;
import graft.remoting.server.exchange.Limit;
import graft.remoting.server.mps.Mps;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.session.RecordHandler;
import graft.remoting.server.session.SessionTerms;
import graft.remoting.server.session.call.ClientRelease;
import graft.remoting.server.session.state.DeviceOutput;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.ServerException;
import graft.remoting.server.transport.BlockTransport;
import graft.remoting.server.transport.Blocks;
import graft.remoting.server.transport.Region;
import graft.remoting.server.transport.RegionHandshake;
import graft.remoting.server.transport.RingTransport;
import graft.remoting.server.transport.SocketTransport;
import graft.remoting.server.transport.TlsSocket;
import graft.remoting.server.transport.Transport;
import graft.remoting.server.transport.UcxTransport;
import graft.remoting.server.transport.VchanHandshake;
import graft.remoting.server.transport.VchanOffer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A session in its worker. The calling thread executes records. A second thread receives the
 * server's messages, reports what the session uses, and ends the process if the server or the
 * client disappears while a call is running.
 */
final class WorkerSession {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerSession.class);
  private static final int REPORT_MILLIS = 1_000;

  /** A process that ends while its work runs ends the work of all other clients of MPS. */
  private static final boolean USES_MPS = System.getenv(Mps.PIPES) != null;

  /** How long work of a client that has disconnected may keep the device busy. */
  private static final Duration GRACE = Duration.ofSeconds(USES_MPS ? 30 : 2);

  private static final Duration SHARE_LIMIT = Duration.ofSeconds(5);

  /** How long a client that does not receive delays the end of its session. */
  private static final int LAST_MILLIS = 2_000;

  /** How long the client may take for the TLS handshake. */
  private static final Duration TLS_LIMIT = Duration.ofSeconds(10);

  /** The most further connections that are being opened at one time; each has a thread. */
  private static final int MOST_OPENING = 16;

  private final ControlSocket control;
  private final Backend backend;
  private final NativeSocket client;
  private final ControlMessage.StartSession start;
  private final Optional<ClientRelease> release;
  private final GuestUse use;
  private final GpuLease lease;
  private final List<Integer> memory;
  private final int spinMicros;
  private final DeviceOutput output;
  private volatile Channel channel;
  private volatile RecordHandler handler;
  private final AtomicLong calls = new AtomicLong();
  private final AtomicLong roundTrips = new AtomicLong();

  /** The limits that were reported. Each is reported once, so that the messages stay few. */
  private final Set<Limit> noticed = ConcurrentHashMap.newKeySet();

  private final WorkerExchange exchange;
  private final IdleTimer idle;
  private final IdleMemory idleMemory = new IdleMemory();
  private final Semaphore opening = new Semaphore(MOST_OPENING);

  @GuardedBy("this")
  private ControlMessage.Used reported = ControlMessage.Used.NOTHING;

  WorkerSession(
      ControlSocket control,
      Backend backend,
      NativeSocket client,
      ControlMessage.StartSession start,
      GuestUse use,
      GpuLease lease,
      List<Integer> memory,
      int spinMicros,
      DeviceOutput output) {
    this.control = control;
    this.exchange = new WorkerExchange(control);
    this.backend = backend;
    this.client = client;
    this.start = start;
    this.release = ClientRelease.of(start.apiHash());
    this.use = use;
    this.lease = lease;
    this.memory = memory;
    this.idle = new IdleTimer(start.limits().idleSeconds());
    this.spinMicros = spinMicros;
    this.output = output;
  }

  /** Serves the session until it ends. */
  void run() throws IOException {
    String reason;
    try {
      lease.askBy(this::askForLease);
      client.sendAll(welcome().array());
      NativeSocket wire = TlsSocket.accept(client, start.tlsKey(), TLS_LIMIT);
      StreamChannel records = new StreamChannel(transport(wire), spinMicros);
      number(records);
      records.dataConnections().onViolation(client::shutdown);
      RecordHandler executor =
          backend.begin(
              records,
              new SessionTerms(
                  start.name(),
                  start.limits(),
                  use,
                  lease,
                  this::reached,
                  spinMicros,
                  exchange,
                  exchange.contents(ContentExchange.Kind.CODE),
                  exchange.contents(ContentExchange.Kind.DATA),
                  exchange,
                  this::isProgram));
      output.sendTo(records);
      executor.sendAlong(output);
      channel = records;
      handler = executor;
      Thread watcher = new Thread(null, this::watch, "graft-watch", 256 * 1024);
      watcher.setDaemon(true);
      watcher.start();
      long record;
      while ((record = records.nextRecord()) != 0) {
        calls.lazySet(calls.get() + 1);
        if ((Memory.getShort(record + Channel.FLAGS) & Channel.WANTS_REPLY) != 0) {
          roundTrips.lazySet(roundTrips.get() + 1);
        }
        executor.execute(record);
      }
      reason = "the client has disconnected";
    } catch (ProtocolException e) {
      LOG.warn("session of {}: protocol error: {}", start.name(), e.getMessage());
      reason = "protocol error: " + e.getMessage();
    } catch (ServerException | IOException e) {
      reason = e.getMessage();
    }
    if (USES_MPS && handler != null) {
      join(handler::finishWork, GRACE.toMillis());
    }
    end(reason);
  }

  /** Runs something that may not come back. */
  private static void join(Runnable work, long millis) {
    Thread last = new Thread(null, work, "graft-last", 128 * 1024);
    last.setDaemon(true);
    last.start();
    try {
      last.join(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns the welcome, which offers what this worker understands. */
  private Bytes welcome() {
    if (start.channel() != HandshakeMessages.CHANNEL_SOCKET) {
      return start.welcome();
    }
    Optional<String> obstacle = Blocks.obstacle();
    obstacle.ifPresent(why -> LOG.debug("session of {} is not compressed: {}", start.name(), why));
    return obstacle.isPresent()
        ? start.welcome()
        : HandshakeMessages.offeringBlocks(start.welcome());
  }

  /** Opens the session's transport on the client's socket, or on TLS on it. */
  private Transport transport(NativeSocket wire) throws IOException {
    return switch (start.channel()) {
      case HandshakeMessages.CHANNEL_SHARED_MEMORY ->
          new RingTransport(client, RegionHandshake.receive(client, SHARE_LIMIT));
      case HandshakeMessages.CHANNEL_GUEST_MEMORY ->
          new RingTransport(
              client,
              RegionHandshake.agree(
                  wire, memory.isEmpty() ? -1 : memory.get(0), start.problem(), SHARE_LIMIT));
      case HandshakeMessages.CHANNEL_VCHAN ->
          VchanHandshake.agree(
              wire,
              memory.size() < 2
                  ? null
                  : VchanOffer.decode(start.shared(), memory.get(0), memory.get(1)),
              start.problem(),
              SHARE_LIMIT);
      case HandshakeMessages.CHANNEL_RDMA -> {
        backend.prepareUcx();
        UcxTransport connection = UcxTransport.open(wire);
        backend.connectedByUcx(connection.isOverAdapter());
        yield connection;
      }
      default -> BlockTransport.of(wire);
    };
  }

  private void askForLease() {
    try {
      control.send(new ControlMessage.AskLease());
    } catch (IOException e) {
      LOG.debug("the server has ended: {}", e.getMessage());
    }
  }

  /** Tells the server which program the session serves. */
  private void isProgram(GuestProgram program) {
    try {
      control.send(new ControlMessage.Program(program));
    } catch (IOException e) {
      LOG.debug("the server has ended: {}", e.getMessage());
    }
  }

  /** Tells the server that a limit has refused something. */
  private void reached(Limit limit) {
    if (noticed.add(limit)) {
      try {
        control.send(new ControlMessage.LimitReached(limit));
      } catch (IOException e) {
        LOG.debug("the server has ended: {}", e.getMessage());
      }
    }
  }

  /** Ends the session after a message to the client, which prints it. */
  private void endTelling(String reason) throws IOException {
    join(() -> tellLast(reason), LAST_MILLIS);
    end(reason);
  }

  /** The client may not receive, so that this has a thread of its own. */
  private void tellLast(String reason) {
    try {
      output.sendLast("graft: the server has ended this session: " + reason + "\n");
    } catch (IOException e) {
      LOG.debug("the client has disconnected: {}", e.getMessage());
    }
  }

  private synchronized void end(String reason) throws IOException {
    report();
    control.send(new ControlMessage.Ended(reason));
    Libc._exit(0);
  }

  private synchronized void report() throws IOException {
    lease.measure();
    RecordHandler executor = handler;
    if (executor == null) {
      return;
    }
    ControlMessage.Used used =
        new ControlMessage.Used(
            channel.bytesIn(),
            channel.bytesOut(),
            calls.get(),
            roundTrips.get(),
            executor.memory(),
            executor.peakMemory());
    if (!used.equals(reported)) {
      reported = used;
      control.send(used);
    }
    Region region = channel.region();
    if (region != null && region.lacksMore()) {
      control.send(new ControlMessage.RegionUse(region.bytes(), region.mostLacked()));
    }
  }

  private void watch() {
    long goneAt = 0;
    try {
      while (true) {
        int[] fds = {control.fd(), goneAt == 0 ? client.fd() : -1};
        int[] answers =
            NativeSocket.poll(REPORT_MILLIS, fds, new int[] {Libc.POLLIN, Libc.POLLRDHUP});
        if (answers[0] != 0) {
          hear();
        }
        if (answers[1] != 0) {
          goneAt = System.nanoTime();
        }
        if (goneAt != 0 && System.nanoTime() - goneAt > GRACE.toNanos()) {
          end("the client disconnected while a call was running");
        }
        report();
        idleMemory.look(activity());
        if (idle.isOver(activity(), handler::finishWork)) {
          endTelling(idle.reason());
        }
      }
    } catch (IOException e) {
      // A worker must not outlive its server.
      Libc._exit(1);
    }
  }

  /** Returns a number that changes with each call and with data of the client. */
  private long activity() {
    return calls.get() + channel.bytesIn() + channel.bytesOut();
  }

  /** Opens a further connection on a thread of its own, because the client may take a while. */
  private void openApart(ControlMessage.AddConnection added, NativeSocket connection)
      throws IOException {
    apart(connection, () -> open(added, TlsSocket.accept(connection, added.tlsKey(), TLS_LIMIT)));
  }

  /** What opens a connection. */
  private interface Opening {
    void run() throws IOException;
  }

  private void apart(NativeSocket connection, Opening open) throws IOException {
    if (!opening.tryAcquire()) {
      throw new IOException("the client opens more than " + MOST_OPENING + " connections at once");
    }
    Runnable task =
        () -> {
          try {
            open.run();
          } catch (IOException e) {
            refuse(connection, e);
          } finally {
            opening.release();
          }
        };
    new Thread(null, task, "graft-open", 256 * 1024).start();
  }

  private void open(ControlMessage.AddConnection added, NativeSocket connection)
      throws IOException {
    if (isRdmaData(added)) {
      channel.dataConnections().add(UcxTransport.open(connection));
    } else if (added.purpose() == HandshakeMessages.CONNECTION_DATA) {
      channel.dataConnections().add(BlockTransport.of(connection));
    } else {
      StreamChannel further = new StreamChannel(new SocketTransport(connection), spinMicros);
      if (added.purpose() != HandshakeMessages.CONNECTION_MAPPINGS) { // its functions are its own
        number(further);
      }
      handler.addConnection(added.purpose(), further);
    }
  }

  /** Adds a connection of another server to its link. */
  private void add(ControlMessage.AddPeer added, NativeSocket connection) {
    Consumer<NativeSocket> link = handler.link(added.link());
    boolean isOurs = added.welcome().array().length == 0; // this server has made it
    try {
      if (link == null) {
        throw new IOException("the session may have no further link to another server");
      }
      if (!isOurs) {
        connection.sendAll(added.welcome().array());
      }
      if (added.tlsKey().array().length == 0) {
        link.accept(connection);
      } else {
        apart(
            connection,
            () ->
                link.accept(
                    isOurs
                        ? TlsSocket.connect(connection, added.tlsKey(), TLS_LIMIT)
                        : TlsSocket.accept(connection, added.tlsKey(), TLS_LIMIT)));
      }
    } catch (IOException e) {
      refuse(connection, e);
    }
  }

  private void number(StreamChannel records) {
    release.ifPresent(r -> records.number(r.functions()));
  }

  private boolean isRdmaData(ControlMessage.AddConnection added) {
    return added.purpose() == HandshakeMessages.CONNECTION_DATA
        && start.channel() == HandshakeMessages.CHANNEL_RDMA;
  }

  private void refuse(NativeSocket connection, IOException why) {
    LOG.info("session of {}: a connection ended: {}", start.name(), why.getMessage());
    connection.close();
  }

  private void hear() throws IOException {
    ControlSocket.Received received = control.receive();
    if (received == null) {
      Libc._exit(0);
      return;
    }
    if (received.message() instanceof ControlMessage.Shared) {
      exchange.answered(received);
    }
    if (received.message() instanceof ControlMessage.LeaseGranted) {
      lease.granted();
    }
    if (received.message() instanceof ControlMessage.EndSession end) {
      endTelling(end.reason());
    }
    if (received.message() instanceof ControlMessage.AddPeer added && received.fd() >= 0) {
      add(added, new NativeSocket(received.fd(), "another server"));
    }
    if (received.message() instanceof ControlMessage.AddConnection added && received.fd() >= 0) {
      NativeSocket connection = new NativeSocket(received.fd(), start.name());
      try {
        connection.sendAll(added.welcome().array());
        if (isRdmaData(added) || added.tlsKey().array().length > 0) {
          openApart(added, connection);
        } else {
          open(added, connection);
        }
      } catch (IOException e) {
        refuse(connection, e);
      }
    }
  }
}
