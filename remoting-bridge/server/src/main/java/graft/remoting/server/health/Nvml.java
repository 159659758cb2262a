package graft.remoting.server.health;

import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the health of GPUs from the driver's {@code libnvidia-ml.so.1}. */
final class Nvml implements HealthSource {
  private static final Logger LOG = LoggerFactory.getLogger(Nvml.class);

  private static final String LIBRARY = "libnvidia-ml.so.1";
  private static final Path DRIVER = Path.of("/sys/module/nvidia/version");

  private static final int SUCCESS = 0;
  private static final int ERROR_NOT_SUPPORTED = 3;
  private static final int ERROR_TIMEOUT = 10;
  private static final int ERROR_GPU_IS_LOST = 15;
  private static final int ERROR_RESET_REQUIRED = 16;
  private static final int UUID_BYTES = 96;

  private static final int CORRECTED = 0;
  private static final int UNCORRECTED = 1;
  private static final int SINCE_LOADED = 0;

  private static final long EVENT_XID = 8;
  private static final int WAIT_MILLIS = 1000;
  private static final int MOST_EVENTS = 16;

  /** nvmlEventData_t: device, event type, event data, and the instances of MIG. */
  private static final int EVENT_BYTES = 32;

  private static final int EVENT_TYPE = 8;
  private static final int EVENT_DATA = 16;

  private final NativeLibrary library;
  private final Map<Gpu, Pointer> handles = new LinkedHashMap<>();

  /** The driver's set of events; null if it reports none. */
  private Pointer events;

  private Nvml(NativeLibrary library) {
    this.library = library;
  }

  /**
   * Opens NVML; empty if there is no driver, or if this process may not use it.
   *
   * @param isServed which GPUs are watched: NVML keeps the nodes of these open, and one that is
   *     open can be neither reset nor given to a guest
   */
  static Optional<Nvml> open(Predicate<Gpu> isServed) {
    try {
      Nvml nvml = new Nvml(NativeLibrary.getInstance(LIBRARY));
      int result = nvml.call("nvmlInit_v2");
      if (result != SUCCESS) {
        LOG.warn(
            "the health of GPUs is not watched: nvmlInit_v2 of {} returned {}", LIBRARY, result);
        return Optional.empty();
      }
      nvml.find(isServed);
      nvml.subscribe();
      return Optional.of(nvml);
    } catch (UnsatisfiedLinkError e) {
      LOG.warn("the health of GPUs is not watched: {}", e.getMessage());
      return Optional.empty();
    }
  }

  private int call(String function, Object... arguments) {
    return library.getFunction(function).invokeInt(arguments);
  }

  private void find(Predicate<Gpu> isServed) {
    IntByReference count = new IntByReference();
    if (call("nvmlDeviceGetCount_v2", count) != SUCCESS) {
      return;
    }
    for (int i = 0; i < count.getValue(); i++) {
      PointerByReference handle = new PointerByReference();
      Memory uuid = new Memory(UUID_BYTES);
      if (call("nvmlDeviceGetHandleByIndex_v2", i, handle) == SUCCESS
          && call("nvmlDeviceGetUUID", handle.getValue(), uuid, UUID_BYTES) == SUCCESS
          && isServed.test(new Gpu(i, uuid.getString(0)))) {
        handles.put(new Gpu(i, uuid.getString(0)), handle.getValue());
      }
    }
  }

  private void subscribe() {
    PointerByReference set = new PointerByReference();
    int result = call("nvmlEventSetCreate", set);
    for (Pointer handle : handles.values()) {
      if (result == SUCCESS) {
        result = call("nvmlDeviceRegisterEvents", handle, EVENT_XID, set.getValue());
      }
    }
    if (result == SUCCESS) {
      events = set.getValue();
    } else {
      LOG.warn("Xid errors are not noticed: NVML's events returned {}", result);
    }
  }

  @Override
  public List<Gpu> gpus() {
    return List.copyOf(handles.keySet());
  }

  /** The kernel's own word: NVML does not notice that its driver was replaced. */
  @Override
  public String driver() {
    try {
      return Files.readString(DRIVER).strip();
    } catch (IOException e) {
      return "";
    }
  }

  @Override
  public Reading read(Gpu gpu) {
    Pointer handle = handles.get(gpu);
    LongByReference slowed = new LongByReference();
    LongByReference corrected = new LongByReference();
    LongByReference uncorrected = new LongByReference();
    int clocks = call("nvmlDeviceGetCurrentClocksThrottleReasons", handle, slowed);
    int soft = call("nvmlDeviceGetTotalEccErrors", handle, CORRECTED, SINCE_LOADED, corrected);
    int hard = call("nvmlDeviceGetTotalEccErrors", handle, UNCORRECTED, SINCE_LOADED, uncorrected);
    if (isLost(clocks) || isLost(soft) || isLost(hard)) {
      return Reading.LOST;
    }
    return new Reading(
        false,
        soft == SUCCESS ? OptionalLong.of(corrected.getValue()) : OptionalLong.empty(),
        hard == SUCCESS ? OptionalLong.of(uncorrected.getValue()) : OptionalLong.empty(),
        Slowdown.of(clocks == SUCCESS ? slowed.getValue() : 0));
  }

  private static boolean isLost(int result) {
    return result == ERROR_GPU_IS_LOST || result == ERROR_RESET_REQUIRED;
  }

  @Override
  public List<XidEvent> awaitXids() throws InterruptedException {
    List<XidEvent> found = new ArrayList<>();
    Memory event = new Memory(EVENT_BYTES);
    int result = next(event, WAIT_MILLIS);
    while (result == SUCCESS) {
      if (event.getLong(EVENT_TYPE) == EVENT_XID) {
        long number = event.getLong(EVENT_DATA);
        named(event.getPointer(0)).ifPresent(uuid -> found.add(new XidEvent(uuid, number)));
      }
      if (found.size() >= MOST_EVENTS) {
        return found; // further errors are read the next time
      }
      result = next(event, 0);
    }
    if (result != SUCCESS && result != ERROR_TIMEOUT) {
      Thread.sleep(WAIT_MILLIS); // NVML did not wait, for instance because a GPU is lost
    }
    return found;
  }

  private int next(Memory event, int millis) {
    return events == null
        ? ERROR_NOT_SUPPORTED
        : call("nvmlEventSetWait_v2", events, event, millis);
  }

  @Override
  public void close() {
    call("nvmlShutdown");
  }

  private Optional<String> named(Pointer handle) {
    return handles.entrySet().stream()
        .filter(entry -> entry.getValue().equals(handle))
        .map(entry -> entry.getKey().uuid())
        .findFirst();
  }
}
