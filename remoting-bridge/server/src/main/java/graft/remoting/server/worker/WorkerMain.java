package graft.remoting.server.worker;

import graft.remoting.server.backend.Backend;
import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.ControlSocket;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.exchange.GpuLease;
import graft.remoting.server.exchange.GuestUse;
import graft.remoting.server.session.state.DeviceOutput;
import graft.remoting.server.system.AddressRange;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A worker's process: opens its device, reports that it is ready, serves one session, exits.
 * Arguments: the private socket, or the descriptor that is connected to it; the device; the
 * microseconds to poll.
 *
 * <p>The process ends by {@code _exit}, because the driver's exit handlers would wait for a kernel
 * that never ends. The system then frees the GPU context with everything in it.
 */
public final class WorkerMain {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerMain.class);

  /** The descriptors of every session. */
  private static final int FIXED = 3;

  private static final int LOOK_MILLIS = 1_000;

  private WorkerMain() {}

  /** Runs the worker; does not return. */
  public static void main(String[] args) {
    int status = 1;
    try {
      run(
          args[0],
          DeviceSpec.parse(args[1]),
          Integer.parseInt(args[2]),
          Boolean.parseBoolean(args[3]));
      status = 0;
    } catch (IOException e) {
      // The server has ended, and there is nothing else to report to.
      LOG.info("worker {}: {}", ProcessHandle.current().pid(), e.getMessage());
    } catch (RuntimeException | Error e) {
      LOG.error("worker {}: {}", ProcessHandle.current().pid(), e.toString(), e);
    } finally {
      Libc._exit(status);
    }
  }

  private static void run(String server, DeviceSpec device, int spinMicros, boolean makesContext)
      throws IOException {
    ControlSocket control =
        server.startsWith("/")
            ? ControlSocket.connect(Path.of(server))
            : ControlSocket.of(Integer.parseInt(server));
    AddressRange addresses = AddressRange.claim(AddressRange.of(System.getenv()));
    DeviceOutput output = DeviceOutput.capture();
    Backend backend;
    try {
      backend = find(device.kind());
      String description = backend.open(makesContext);
      addresses.admitClients();
      control.send(new ControlMessage.Ready(description, backend.uuid()));
    } catch (ServerException e) {
      control.send(new ControlMessage.Failed(e.getMessage()));
      return;
    }
    backend.warmUp(spinMicros, () -> !control.hasMessage());
    awaitMessage(control);
    ControlSocket.Received received = control.receive();
    if (received == null) {
      return;
    }
    if (!(received.message() instanceof ControlMessage.StartSession start)
        || received.fds().size() < FIXED) {
      throw new IOException(
          "a worker's first message must be a session, not " + received.message());
    }
    NativeSocket client = new NativeSocket(received.fd(), start.name());
    GuestUse use = GuestUse.map(received.fds().get(1), start.slots(), start.slot(), start.limits());
    GpuLease lease = GpuLease.map(received.fds().get(2));
    lease.tell(use.activity());
    List<Integer> shared = received.fds().subList(FIXED, received.fds().size());
    new WorkerSession(control, backend, client, start, use, lease, shared, spinMicros, output)
        .run();
  }

  /** Waits for the server's message, or until the worker has no memory to give back. */
  private static void awaitMessage(ControlSocket control) throws IOException {
    IdleMemory memory = new IdleMemory();
    int[] fds = {control.fd()};
    int[] events = {Libc.POLLIN};
    boolean hasCome = false;
    while (!hasCome && !memory.look(0)) {
      hasCome = NativeSocket.poll(LOOK_MILLIS, fds, events)[0] != 0;
    }
  }

  private static Backend find(String kind) throws ServerException {
    List<String> kinds = new ArrayList<>();
    for (Backend backend : ServiceLoader.load(Backend.class)) {
      if (backend.kind().equals(kind)) {
        return backend;
      }
      kinds.add(backend.kind());
    }
    throw new ServerException("there is no device of kind '" + kind + "': choose from " + kinds);
  }
}
