package graft.remoting.server.share;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.common.grants.Grant;
import graft.common.grants.Share;
import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.ControlSocket;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.exchange.LeasePage;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shares the server's devices among its guests. As long as no guest has a share, every session uses
 * its device as it likes. Thread-safe.
 */
public final class GpuShares implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(GpuShares.class);

  /** Whether this machine has processors to spare for polling. */
  private static final boolean POLLS = Runtime.getRuntime().availableProcessors() >= 4;

  private static final long SHORTEST_SLEEP = 50_000;

  private final Thread thread = new Thread(null, this::run, "graft-shares", 256 * 1024);

  @GuardedBy("this")
  private final Map<String, DeviceArbiter> arbiters = new HashMap<>();

  @GuardedBy("this")
  private Map<String, Share> shares = Map.of();

  private final Duration watchdog;

  private GpuShares(Duration watchdog) {
    this.watchdog = watchdog;
  }

  /**
   * Starts the thread that gives the leases.
   *
   * @param watchdog how long a session's work may go on after its turn while other guests want the
   *     device; zero for any time
   */
  public static GpuShares start(Map<String, Grant> grants, Duration watchdog) {
    GpuShares made = new GpuShares(watchdog);
    made.change(grants);
    made.thread.setDaemon(true);
    made.thread.start();
    return made;
  }

  /** The lease of one session. */
  public final class SessionLease implements Lease {
    private final String guest;
    private final DeviceSpec device;
    private final LeasePage page;
    private final Watchdog watchdog;
    private volatile ControlSocket control;
    private volatile Runnable onOverrun = () -> {};

    private SessionLease(String guest, DeviceSpec device, LeasePage page) {
      this.guest = guest;
      this.device = device;
      this.page = page;
      this.watchdog = new Watchdog(GpuShares.this.watchdog.toNanos(), () -> onOverrun.run());
    }

    /** Returns the memory that the worker gets. */
    public LeasePage page() {
      return page;
    }

    /** Sets the connection by which the worker is told. */
    public void connect(ControlSocket toWorker) {
      control = toWorker;
    }

    /**
     * Sets what to do when the session's work has gone on for longer than the watchdog lets it. The
     * action is called once, and must return at once.
     */
    public void onOverrun(Runnable action) {
      onOverrun = action;
    }

    /** Looks at the session: its worker has asked for the lease. */
    public void ask() {
      wake();
    }

    @Override
    public void grant(LeasePage.Queueing queueing) {
      page.grant(queueing);
      announce();
    }

    @Override
    public void announce() {
      ControlSocket worker = control;
      if (worker != null) {
        try {
          worker.sendAtOnce(new ControlMessage.LeaseGranted(), List.of());
        } catch (IOException e) {
          // A worker that waits looks at the page from time to time, too.
          LOG.debug("{} is not told of its lease: {}", guest, e.getMessage());
        }
      }
    }

    @Override
    public void revoke() {
      page.revoke();
    }

    @Override
    public boolean isBusy() {
      return page.isRunning();
    }

    @Override
    public boolean isWaiting() {
      return page.isWaiting();
    }

    @Override
    public Watchdog watchdog() {
      return watchdog;
    }

    /** Ends the lease with its session. */
    public void close() {
      end(this);
    }
  }

  /**
   * Returns the share of a guest; empty while no guest has one, since sessions then take no turns.
   */
  public synchronized Optional<Share> of(String guest) {
    return shares.isEmpty()
        ? Optional.empty()
        : Optional.of(shares.getOrDefault(guest, Share.DEFAULT));
  }

  /** Returns how long a session's work may go on after its turn; zero if for any time. */
  public Duration watchdog() {
    return watchdog;
  }

  /** Makes the lease of a new session. */
  public SessionLease open(String guest, DeviceSpec device) throws IOException {
    SessionLease lease = new SessionLease(guest, device, LeasePage.create());
    synchronized (this) {
      DeviceArbiter arbiter = arbiters.computeIfAbsent(key(device), key -> arbiter());
      arbiter.add(guest, shares.getOrDefault(guest, Share.DEFAULT), lease);
    }
    return lease;
  }

  /** Returns what the arbiter of a device is found by. All software devices are one CPU. */
  private static String key(DeviceSpec device) {
    return device.kind().equals(DeviceSpec.SOFTWARE) ? device.kind() : device.toString();
  }

  @GuardedBy("this")
  private DeviceArbiter arbiter() {
    DeviceArbiter arbiter = new DeviceArbiter();
    arbiter.activate(!shares.isEmpty());
    return arbiter;
  }

  private synchronized void end(SessionLease lease) {
    DeviceArbiter arbiter = arbiters.get(key(lease.device));
    if (arbiter != null) {
      arbiter.remove(lease.guest, lease);
    }
    lease.page.close();
    wake();
  }

  /** Applies the shares of grants to the sessions that there are, and to new ones. */
  public synchronized void change(Map<String, Grant> grants) {
    Map<String, Share> changed = new HashMap<>();
    grants.forEach((name, grant) -> grant.share().ifPresent(share -> changed.put(name, share)));
    if (changed.equals(shares)) {
      return;
    }
    LOG.info("shares: {}", changed.isEmpty() ? "none" : changed);
    shares = Map.copyOf(changed);
    arbiters.forEach(
        (key, arbiter) -> {
          arbiter.change(shares);
          arbiter.activate(!shares.isEmpty());
        });
    wake();
  }

  private void wake() {
    LockSupport.unpark(thread);
  }

  private void run() {
    while (!Thread.interrupted()) {
      long pause = tick();
      if (pause == DeviceArbiter.NEVER) {
        LockSupport.park(this);
      } else if (pause < DeviceArbiter.SAMPLE && POLLS) {
        poll(pause);
      } else {
        LockSupport.parkNanos(this, Math.max(pause, SHORTEST_SLEEP));
      }
    }
    LOG.debug("the server stops, and gives no more leases");
  }

  /** Waits as long as no sleep is short enough for. */
  private static void poll(long nanos) {
    long limit = System.nanoTime() + nanos;
    while (System.nanoTime() < limit) {
      Thread.onSpinWait();
    }
  }

  /** Looks at all sessions. Returns after how many nanoseconds to look again. */
  private synchronized long tick() {
    long pause = DeviceArbiter.NEVER;
    for (DeviceArbiter arbiter : arbiters.values()) {
      pause = Math.min(pause, arbiter.tick(System.nanoTime()));
    }
    return pause;
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
