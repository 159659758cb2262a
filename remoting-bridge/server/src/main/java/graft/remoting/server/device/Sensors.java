package graft.remoting.server.device;

import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the sensors of this process's GPUs show, from the driver's {@code libnvidia-ml.so.1}. They
 * are the whole GPU's, so that a guest can tell by them how much its owner and other guests use the
 * GPU; {@code graft serve --sensors off} keeps them from guests, by {@code GRAFT_SENSORS=off} in
 * the environment of the workers.
 *
 * <p>A reading is kept for a while, so that no guest can keep the driver busy.
 */
public final class Sensors {
  private static final Logger LOG = LoggerFactory.getLogger(Sensors.class);

  /** The variable in the worker's environment that holds the setting. */
  public static final String VARIABLE = "GRAFT_SENSORS";

  private static final String LIBRARY = "libnvidia-ml.so.1";
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
    PERFORMANCE_STATE("nvmlDeviceGetPerformanceState", Sensor.NONE);

    private static final int NONE = -1;

    private final String function;

    /** What NVML takes between the device and the result: the sensor's or the clock's type. */
    private final int type;

    Sensor(String function, int type) {
      this.function = function;
      this.type = type;
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
    if (!allowed || number < 0 || number >= Sensor.values().length) {
      return OptionalInt.empty();
    }
    Sensor sensor = Sensor.values()[number];
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
      IntByReference value = new IntByReference();
      if (library.getFunction("nvmlDeviceGetHandleByUUID").invokeInt(new Object[] {uuid, gpu}) != 0
          || library
                  .getFunction(sensor.function)
                  .invokeInt(arguments(gpu.getValue(), sensor.type, value))
              != 0) {
        return OptionalInt.empty();
      }
      return OptionalInt.of(value.getValue());
    } catch (UnsatisfiedLinkError e) {
      LOG.debug("{}: {}", LIBRARY, e.getMessage());
      return OptionalInt.empty();
    }
  }

  private static Object[] arguments(Pointer gpu, int type, IntByReference value) {
    return type == Sensor.NONE ? new Object[] {gpu, value} : new Object[] {gpu, type, value};
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
