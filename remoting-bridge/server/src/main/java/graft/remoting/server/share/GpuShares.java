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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
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

  private static final Share DENSE = Share.of(Share.Type.DENSE, 0, Share.Priority.NORMAL);

  /**
   * The largest number of GPUs that are told apart. Workers say which GPU they have, and a hostile
   * one may name any.
   */
  static final int MOST_GPUS = 64;

  /** GPUs and MIG instances whose name can be part of a file's name. */
  private static final Pattern NAME = Pattern.compile("(GPU|MIG)-[0-9a-f-]{36}");

  /** The MIG instance that this server is limited to, as nvidia-smi names it; null for none. */
  private static final String MIG =
      Optional.ofNullable(System.getenv("CUDA_VISIBLE_DEVICES"))
          .filter(visible -> visible.startsWith("MIG-"))
          .orElse(null);

  private final Thread thread = new Thread(null, this::run, "graft-shares", 256 * 1024);

  @GuardedBy("this")
  private final Map<String, DeviceTurns> devices = new HashMap<>();

  @GuardedBy("this")
  private final List<HostArbiter> hostArbiters = new ArrayList<>();

  @GuardedBy("this")
  private Map<String, Share> shares = Map.of();

  @GuardedBy("this")
  private long numbers;

  private final boolean usesMps;
  private final Duration watchdog;
  private final Optional<HostArbiter.Place> place;

  private GpuShares(Duration watchdog, Optional<HostArbiter.Place> place, boolean usesMps) {
    this.usesMps = usesMps;
    this.watchdog = watchdog;
    this.place = place;
  }

  /**
   * Starts the thread that gives the leases.
   *
   * @param watchdog how long a session's work may go on after its turn while other guests want the
   *     device; zero for any time
   */
  public static GpuShares start(Map<String, Grant> grants, Duration watchdog) {
    return start(grants, watchdog, Optional.empty(), false);
  }

  /**
   * Starts the thread that gives the leases.
   *
   * @param place where this server finds the others of its host, with which it shares an arbiter of
   *     each GPU; empty if it keeps the shares of its own guests only
   * @param usesMps whether the sessions' work runs at the same time by NVIDIA's MPS, without shares
   */
  public static GpuShares start(
      Map<String, Grant> grants,
      Duration watchdog,
      Optional<HostArbiter.Place> place,
      boolean usesMps) {
    GpuShares made = new GpuShares(watchdog, place, usesMps);
    made.change(grants);
    made.thread.setDaemon(true);
    made.thread.start();
    return made;
  }

  /** The lease of one session. */
  public final class SessionLease extends PageLease {
    private final long number;
    private final String guest;
    private final DeviceSpec device;
    private final Watchdog watchdog;
    private volatile DeviceTurns turns;
    private volatile ControlSocket control;
    private volatile Runnable onOverrun = () -> {};

    private SessionLease(long number, String guest, DeviceSpec device, LeasePage page) {
      super(page);
      this.number = number;
      this.guest = guest;
      this.device = device;
      this.watchdog = new Watchdog(GpuShares.this.watchdog.toNanos(), () -> onOverrun.run());
    }

    /** Returns the memory that the worker gets. */
    public LeasePage page() {
      return page;
    }

    long number() {
      return number;
    }

    String guest() {
      return guest;
    }

    /**
     * Lets the session take part in the turns of its GPU; later calls have no effect.
     *
     * @param uuid the worker's GPU as NVML names it; empty if it sees several GPUs
     */
    public void begin(String uuid) {
      GpuShares.this.begin(this, uuid);
    }

    /** Sets the connection by which the worker is told, once it knows its session. */
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
      GpuShares.this.ask(this);
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
    if (usesMps) {
      return Optional.of(DENSE);
    }
    return shares.isEmpty()
        ? Optional.empty()
        : Optional.of(shares.getOrDefault(guest, Share.DEFAULT));
  }

  /** Returns how long a session's work may go on after its turn; zero if for any time. */
  public Duration watchdog() {
    return watchdog;
  }

  /**
   * Makes the lease of a new session, which has its turns from the time when it is {@link
   * SessionLease#begin begins}.
   */
  public synchronized SessionLease open(String guest, DeviceSpec device) throws IOException {
    return new SessionLease(++numbers, guest, device, LeasePage.create());
  }

  private synchronized void begin(SessionLease lease, String uuid) {
    if (lease.turns == null) {
      String key = key(lease.device, uuid);
      boolean isOneTooMany = !devices.containsKey(key) && devices.size() >= MOST_GPUS;
      lease.turns =
          isOneTooMany
              ? devices.computeIfAbsent(lease.device.toString(), device -> turns(device, ""))
              : devices.computeIfAbsent(key, gpu -> turns(gpu, uuid));
      lease.turns.add(lease);
      wake();
    }
  }

  /** Returns what a device is found by. All software devices are one CPU. */
  private static String key(DeviceSpec device, String uuid) {
    boolean isCuda = device.kind().equals(DeviceSpec.CUDA);
    if (isCuda && !uuid.isEmpty() && MIG != null) {
      return MIG; // the driver tells the UUID of the instance's GPU
    }
    return !uuid.isEmpty()
        ? uuid
        : device.kind().equals(DeviceSpec.SOFTWARE) ? device.kind() : device.toString();
  }

  @GuardedBy("this")
  private DeviceTurns turns(String key, String uuid) {
    boolean isShared = place.isPresent() && !uuid.isEmpty() && NAME.matcher(key).matches();
    String server = isShared ? place.get().server() : "";
    DeviceTurns turns = new DeviceTurns(key, server, shares);
    if (isShared) {
      hostArbiters.add(new HostArbiter(place.get(), key, turns, this, this::wake));
    }
    return turns;
  }

  /** Returns whether another server decides whose turn it is on a GPU. */
  synchronized boolean follows(String uuid) {
    DeviceTurns turns = devices.get(uuid);
    return turns != null && turns.isFollowing();
  }

  /** Returns how many sessions of other servers have their turns on a GPU from this server. */
  synchronized int sessionsOfFollowers(String uuid) {
    DeviceTurns turns = devices.get(uuid);
    return turns == null ? 0 : turns.followers().stream().mapToInt(Follower::sessions).sum();
  }

  private void ask(SessionLease lease) {
    synchronized (this) {
      if (lease.turns != null && !lease.turns.ask()) {
        return;
      }
    }
    wake();
  }

  private synchronized void end(SessionLease lease) {
    if (lease.turns != null) {
      lease.turns.remove(lease);
    }
    lease.page.close();
    wake();
  }

  /** Applies the shares of grants to the sessions that there are, and to new ones. */
  public synchronized void change(Map<String, Grant> grants) {
    Map<String, Share> changed = new HashMap<>();
    grants.forEach((name, grant) -> grant.share().ifPresent(share -> changed.put(name, share)));
    List<String> unkept =
        changed.keySet().stream().filter(name -> isDense(changed.get(name)) != usesMps).toList();
    changed.values().removeIf(share -> isDense(share) || usesMps);
    if (!unkept.isEmpty()) {
      LOG.warn(
          usesMps
              ? "{}: with --mps every guest is of class dense, and has no share"
              : "{}: class dense needs a server with --mps, and is no share here",
          unkept);
    }
    if (changed.equals(shares)) {
      return;
    }
    LOG.info("shares: {}", changed.isEmpty() ? "none" : changed);
    shares = Map.copyOf(changed);
    devices.values().forEach(turns -> turns.change(shares));
    wake();
  }

  private static boolean isDense(Share share) {
    return share.type() == Share.Type.DENSE;
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
    for (DeviceTurns turns : devices.values()) {
      pause = Math.min(pause, turns.tick(System.nanoTime()));
    }
    return pause;
  }

  @Override
  public void close() {
    List<HostArbiter> ending;
    synchronized (this) {
      ending = List.copyOf(hostArbiters);
    }
    ending.forEach(HostArbiter::close);
    thread.interrupt();
  }
}
