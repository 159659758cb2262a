package graft.remoting.server.health;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.server.control.DeviceSpec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the GPUs that a server may give to sessions. A GPU has a problem after a fatal {@link
 * Xid} error, when the driver has lost it, and when another driver was loaded. It keeps the problem
 * until the server is started again, since the server cannot know that the GPU was reset.
 * Thread-safe.
 */
public final class GpuHealth implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(GpuHealth.class);

  /** How many different Xid errors of a GPU are counted. */
  private static final int MOST_XIDS = 64;

  private static final DeviceSpec ALL = DeviceSpec.parse(DeviceSpec.CUDA);

  private final HealthSource source;
  private final List<String> visible;
  private final String driver;

  @GuardedBy("this")
  private final Map<String, Watched> gpus = new LinkedHashMap<>();

  private BiConsumer<String, String> onProblem = (uuid, problem) -> {};
  private volatile boolean closed;
  private volatile boolean isWatched = true;

  private static final class Watched {
    final HealthSource.Gpu gpu;

    /** Whether sessions may have the GPU, as far as this is known. */
    boolean isServed;

    final Map<Long, Long> xids = new TreeMap<>();
    String problem = "";
    HealthSource.Reading reading =
        new HealthSource.Reading(false, OptionalLong.empty(), OptionalLong.empty(), Set.of());

    Watched(HealthSource.Gpu gpu, boolean isServed) {
      this.gpu = gpu;
      this.isServed = isServed;
    }

    GpuState state() {
      return new GpuState(
          gpu.index(),
          gpu.uuid(),
          problem,
          Map.copyOf(xids),
          reading.correctedErrors(),
          reading.uncorrectedErrors(),
          reading.slowed());
    }
  }

  /**
   * Watches what a source shows, when {@link #look} is called.
   *
   * @param visible the server's CUDA_VISIBLE_DEVICES; empty if it is not set
   * @param device what sessions have whose grant names no GPU. Other GPUs are watched, too, and
   *     count as served once a session wants one of them.
   */
  GpuHealth(HealthSource source, Optional<String> visible, DeviceSpec device) {
    this.source = source;
    this.visible = elements(visible);
    this.driver = source.driver();
    source
        .gpus()
        .forEach(
            gpu -> gpus.put(gpu.uuid(), new Watched(gpu, contains(device, this.visible, gpu))));
  }

  /**
   * Finds the GPUs that a server of this device may give to sessions, if the driver's NVML can be
   * used.
   */
  public static GpuHealth of(DeviceSpec device) {
    Optional<String> visible = Optional.ofNullable(System.getenv("CUDA_VISIBLE_DEVICES"));
    Optional<Nvml> nvml =
        device.kind().equals(DeviceSpec.CUDA)
            ? Nvml.open(gpu -> contains(ALL, elements(visible), gpu))
            : Optional.empty();
    return nvml.map(source -> new GpuHealth(source, visible, device)).orElseGet(GpuHealth::none);
  }

  /**
   * Begins to watch.
   *
   * @param action is told of a GPU that has a problem, once, with its UUID and the problem; it must
   *     return soon
   */
  public void start(BiConsumer<String, String> action) {
    onProblem = action;
    if (!known().isEmpty()) {
      Thread thread = new Thread(null, this::watch, "graft-health", 256 * 1024);
      thread.setDaemon(true);
      thread.start();
    }
  }

  private static List<String> elements(Optional<String> visible) {
    return visible.map(text -> List.of(text.split("\\s*,\\s*"))).orElse(List.of());
  }

  /** Knows of no GPU, and of no problem. */
  public static GpuHealth none() {
    return new GpuHealth(NoSource.INSTANCE, Optional.empty(), ALL);
  }

  private void watch() {
    try {
      while (!closed) {
        look();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      LOG.error("the health of the GPUs is not watched any more", e);
      isWatched = false;
    } finally {
      source.close();
    }
  }

  /** Waits for errors for about a second, and reads what the GPUs show. */
  void look() throws InterruptedException {
    for (HealthSource.XidEvent event : source.awaitXids()) {
      xid(event);
    }
    String loaded = source.driver();
    for (HealthSource.Gpu gpu : known()) {
      HealthSource.Reading reading = source.read(gpu);
      synchronized (this) {
        gpus.get(gpu.uuid()).reading = reading;
      }
      if (reading.isLost()) {
        problem(gpu.uuid(), "the driver has lost the GPU");
      } else if (!loaded.equals(driver)) {
        problem(
            gpu.uuid(), "the driver has changed from " + named(driver) + " to " + named(loaded));
      }
    }
  }

  private static String named(String version) {
    return version.isEmpty() ? "none" : version;
  }

  private synchronized List<HealthSource.Gpu> known() {
    return gpus.values().stream().map(watched -> watched.gpu).toList();
  }

  private void xid(HealthSource.XidEvent event) {
    Optional<String> fatal = Xid.fatal(event.number());
    boolean isFirst = false;
    synchronized (this) {
      Watched watched = gpus.get(event.uuid());
      if (watched != null
          && (watched.xids.size() < MOST_XIDS || watched.xids.containsKey(event.number()))) {
        isFirst = watched.xids.merge(event.number(), 1L, Long::sum) == 1;
      }
    }
    if (isFirst) { // guests can cause any number of errors
      String meaning = fatal.orElse("the GPU stays usable");
      LOG.warn("{}: the first Xid {}: {}", event.uuid(), event.number(), meaning);
    }
    fatal.ifPresent(text -> problem(event.uuid(), "Xid " + event.number() + ", " + text));
  }

  private void problem(String uuid, String problem) {
    synchronized (this) {
      Watched watched = gpus.get(uuid);
      if (watched == null || !watched.problem.isEmpty()) {
        return;
      }
      watched.problem = problem;
      if (!watched.isServed) {
        return;
      }
    }
    LOG.error("{} takes no new sessions: {}", uuid, problem);
    onProblem.accept(uuid, problem);
  }

  /**
   * The health of the GPUs, in the order of their indices; none once they cannot be watched any
   * more.
   */
  public synchronized List<GpuState> gpus() {
    return !isWatched
        ? List.of()
        : gpus.values().stream().filter(watched -> watched.isServed).map(Watched::state).toList();
  }

  /**
   * Why a device takes no new sessions; empty if it takes them. A device of several GPUs takes none
   * as soon as one of them has a problem, since programs would use that one, too. The GPUs count as
   * served from now on.
   */
  public synchronized Optional<String> problem(DeviceSpec device) {
    List<Watched> its =
        gpus.values().stream().filter(each -> contains(device, visible, each.gpu)).toList();
    its.forEach(watched -> watched.isServed = true);
    return its.stream()
        .filter(watched -> !watched.problem.isEmpty())
        .map(watched -> watched.gpu.uuid() + ": " + watched.problem)
        .findFirst();
  }

  private static boolean contains(DeviceSpec device, List<String> visible, HealthSource.Gpu gpu) {
    if (device.index().isEmpty()) {
      return visible.isEmpty() || visible.stream().anyMatch(name -> names(name, gpu));
    }
    int index = device.index().getAsInt();
    return visible.isEmpty()
        ? gpu.index() == index
        : index < visible.size() && names(visible.get(index), gpu);
  }

  /**
   * Whether an element of CUDA_VISIBLE_DEVICES, an index or the beginning of a UUID, means a GPU.
   */
  private static boolean names(String element, HealthSource.Gpu gpu) {
    return element.startsWith("GPU-")
        ? gpu.uuid().startsWith(element)
        : element.equals(Integer.toString(gpu.index()));
  }

  @Override
  public void close() {
    closed = true;
  }
}
