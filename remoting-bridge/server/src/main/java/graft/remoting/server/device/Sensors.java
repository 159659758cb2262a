package graft.remoting.server.device;

import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the sensors of this process's GPUs show, from the driver's {@code libnvidia-ml.so.1}, and
 * how many NVLinks they have. Sensors are the whole GPU's, so that a guest can tell by them how
 * much its owner and other guests use the GPU; {@code graft serve --sensors off} keeps them from
 * guests, by {@code GRAFT_SENSORS=off} in the environment of the workers.
 *
 * <p>A reading is kept for a while, so that no guest can keep the driver busy.
 */
public final class Sensors {
  private static final Logger LOG = LoggerFactory.getLogger(Sensors.class);

  /** The variable in the worker's environment that holds the setting. */
  public static final String VARIABLE = "GRAFT_SENSORS";

  private static final String LIBRARY = "libnvidia-ml.so.1";

  /** NVML_NVLINK_MAX_LINKS. */
  private static final int MOST_LINKS = 18;

  private static final long KEPT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** The sensors by the numbers that a client sends, with the functions of NVML that read them. */
  private enum Sensor {
    TEMPERATURE("nvmlDeviceGetTemperature", 0),
    POWER("nvmlDeviceGetPowerUsage", Sensor.NONE),
    POWER_LIMIT("nvmlDeviceGetEnforcedPowerLimit", Sensor.NONE),
    GRAPHICS_CLOCK("nvmlDeviceGetClockInfo", 0),
    SM_CLOCK("nvmlDeviceGetClockInfo", 1),
    MEMORY_CLOCK("nvmlDeviceGetClockInfo", 2),
    VIDEO_CLOCK("nvmlDeviceGetClockInfo", 3),
    PERFORMANCE_STATE("nvmlDeviceGetPerformanceState", Sensor.NONE),
    NVLINKS("nvmlDeviceGetNvLinkState", Sensor.EACH_LINK),
    NVLINK_VERSION("nvmlDeviceGetNvLinkVersion", 0),
    NVLINK_REMOTE_TYPE("nvmlDeviceGetNvLinkRemoteDeviceType", 0);

    private static final int NONE = -1;

    /** The value is the number of links for which the function returns 1. */
    private static final int EACH_LINK = -2;

    private final String function;

    /** What NVML takes between the device and the result: a sensor, a type of clocks, a link. */
    private final int type;

    Sensor(String function, int type) {
      this.function = function;
      this.type = type;
    }

    /** Whether the value depends on what programs do with the GPU, its owner's included. */
    private boolean showsUse() {
      return compareTo(NVLINKS) < 0;
    }
  }

  private record Reading(OptionalInt value, long at) {}

  private final boolean allowed;
  private NativeLibrary library;
  private boolean opened;
  private final Map<String, Reading> readings = new HashMap<>();

  private Sensors(boolean allowed) {
    this.allowed = allowed;
  }

  /** Returns the sensors as this process's environment allows them. */
  public static Sensors ofEnvironment() {
    return new Sensors(!"off".equals(System.getenv(VARIABLE)));
  }

  /**
   * Returns what a sensor shows, in NVML's units; empty if the sensor is not allowed, not known, or
   * not there.
   *
   * @param uuid the GPU as NVML names it: GPU-, and 36 characters
   * @param number the number of the sensor
   */
  public OptionalInt read(String uuid, int number) {
    if (number < 0 || number >= Sensor.values().length) {
      return OptionalInt.empty();
    }
    Sensor sensor = Sensor.values()[number];
    if (!allowed && sensor.showsUse()) {
      return OptionalInt.empty();
    }
    long now = System.nanoTime();
    return readings.compute(
            uuid + sensor,
            (key, last) ->
                last != null && now - last.at < KEPT_NANOS
                    ? last
                    : new Reading(ask(uuid, sensor), now))
        .value;
  }

  private OptionalInt ask(String uuid, Sensor sensor) {
    open();
    if (library == null) {
      return OptionalInt.empty();
    }
    try {
      PointerByReference gpu = new PointerByReference();
      if (library.getFunction("nvmlDeviceGetHandleByUUID").invokeInt(new Object[] {uuid, gpu})
          != 0) {
        return OptionalInt.empty();
      }
      return sensor.type == Sensor.EACH_LINK
          ? links(gpu.getValue(), sensor.function)
          : ask(sensor.function, gpu.getValue(), sensor.type);
    } catch (UnsatisfiedLinkError e) {
      LOG.debug("{}: {}", LIBRARY, e.getMessage());
      return OptionalInt.empty();
    }
  }

  private OptionalInt ask(String function, Pointer gpu, int type) {
    IntByReference value = new IntByReference();
    Object[] arguments =
        type == Sensor.NONE ? new Object[] {gpu, value} : new Object[] {gpu, type, value};
    return library.getFunction(function).invokeInt(arguments) == 0
        ? OptionalInt.of(value.getValue())
        : OptionalInt.empty();
  }

  private OptionalInt links(Pointer gpu, String function) {
    long active =
        IntStream.range(0, MOST_LINKS)
            .filter(link -> ask(function, gpu, link).orElse(0) == 1)
            .count();
    return active == 0 ? OptionalInt.empty() : OptionalInt.of((int) active);
  }

  /** Loads the library at the first question, because most programs ask none. */
  private void open() {
    if (opened) {
      return;
    }
    opened = true;
    try {
      NativeLibrary found = NativeLibrary.getInstance(LIBRARY);
      int result = found.getFunction("nvmlInit_v2").invokeInt(new Object[0]);
      if (result == 0) {
        library = found;
      } else {
        LOG.debug("{}: nvmlInit_v2 returned {}", LIBRARY, result);
      }
    } catch (UnsatisfiedLinkError e) {
      LOG.debug("{}: {}", LIBRARY, e.getMessage());
    }
  }
}
