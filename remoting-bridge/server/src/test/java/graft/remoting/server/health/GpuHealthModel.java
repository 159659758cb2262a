package graft.remoting.server.health;

import graft.remoting.server.control.DeviceSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Two GPUs of a machine, whose errors a test chooses. */
public final class GpuHealthModel implements HealthSource {
  public static final String FIRST = "GPU-00000000-0000-0000-0000-000000000001";
  public static final String SECOND = "GPU-00000000-0000-0000-0000-000000000002";

  private final Queue<XidEvent> xids = new ConcurrentLinkedQueue<>();
  private final AtomicInteger reported = new AtomicInteger();
  private final AtomicInteger handled = new AtomicInteger();

  /** How many errors a thread has got last, which it has handled when it asks again. */
  private final ThreadLocal<Integer> got = ThreadLocal.withInitial(() -> 0);

  private String driver = "580.159.04";
  private Reading second =
      new Reading(false, OptionalLong.of(3), OptionalLong.of(0), Set.of(Slowdown.POWER_BRAKE));

  private final GpuHealth health;

  /**
   * Makes healthy GPUs.
   *
   * @param visible the server's CUDA_VISIBLE_DEVICES
   */
  public GpuHealthModel(Optional<String> visible) {
    this(visible, DeviceSpec.parse("cuda"));
  }

  /**
   * Makes healthy GPUs of a server.
   *
   * @param device the server's device
   */
  GpuHealthModel(Optional<String> visible, DeviceSpec device) {
    health = new GpuHealth(this, visible, device);
  }

  /** What the server knows of these GPUs. */
  public GpuHealth health() {
    return health;
  }

  /** The driver reports an error of the first GPU. */
  public void xid(long number) {
    report(FIRST, number);
  }

  void report(String uuid, long number) {
    reported.incrementAndGet();
    xids.add(new XidEvent(uuid, number));
    look();
    // The server's own thread may have got the error, and may not have handled it yet.
    while (handled.get() < reported.get()) {
      look();
    }
  }

  void loseTheSecond() {
    second = Reading.LOST;
    look();
  }

  void load(String version) {
    driver = version;
    look();
  }

  @Override
  public void close() {
    // holds nothing
  }

  /** The server asks for the GPUs' state. */
  public void look() {
    try {
      health.look();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public List<Gpu> gpus() {
    return List.of(new Gpu(0, FIRST), new Gpu(1, SECOND));
  }

  @Override
  public String driver() {
    return driver;
  }

  @Override
  public Reading read(Gpu gpu) {
    return gpu.index() == 0
        ? new Reading(false, OptionalLong.empty(), OptionalLong.empty(), Set.of())
        : second;
  }

  @Override
  public List<XidEvent> awaitXids() throws InterruptedException {
    handled.addAndGet(got.get());
    got.set(0);
    TimeUnit.MILLISECONDS.sleep(2);
    // The server's own thread looks, too: each error comes to one of the two.
    List<XidEvent> found = new ArrayList<>();
    for (XidEvent event = xids.poll(); event != null; event = xids.poll()) {
      found.add(event);
    }
    got.set(found.size());
    return found;
  }
}
