package graft.remoting.server.device;

import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the sensors of this process's GPUs show, from the driver's {@code libnvidia-ml.so.1}, and
 * how the GPUs are connected. Sensors are the whole GPU's, so that a guest can tell by them how
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

  /** An index that is larger is no link, no counter and no GPU. */
  private static final int LARGEST_INDEX = 63;

  /** The end of a link that leads to a switch; that of another is the ordinal of a GPU. */
  public static final int SWITCH = 1 << 16;

  private static final int IS_ACTIVE = 1;
  private static final int TYPE_GPU = 0;
  private static final int TYPE_SWITCH = 2;

  // nvmlPciInfo_t
  private static final int PCI_INFO = 68;
  private static final int PCI_PLACE = 16;
  private static final int PCI_PLACE_BYTES = 12;

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
    NVLINK_VERSION("nvmlDeviceGetNvLinkVersion", Sensor.INDEX),
    NVLINK_REMOTE_TYPE("nvmlDeviceGetNvLinkRemoteDeviceType", Sensor.INDEX),
    BRAND("nvmlDeviceGetBrand", Sensor.NONE),
    PCIE_THROUGHPUT("nvmlDeviceGetPcieThroughput", Sensor.INDEX),
    NVLINK_END("nvmlDeviceGetNvLinkRemotePciInfo_v2", Sensor.END),
    COMMON_ANCESTOR("nvmlDeviceGetTopologyCommonAncestor", Sensor.PEER);

    private static final int NONE = -1;

    /** The value is the number of links for which the function returns 1. */
    private static final int EACH_LINK = -2;

    /** The client's index: a link, a counter. */
    private static final int INDEX = -3;

    /** The value is where the link of the client's index ends. */
    private static final int END = -4;

    /** The GPU of the client's index. */
    private static final int PEER = -5;

    private final String function;

    /** What NVML takes between the device and the result: a sensor, a type of clocks. */
    private final int type;

    Sensor(String function, int type) {
      this.function = function;
      this.type = type;
    }

    /** Whether the value depends on what programs do with the GPU, its owner's included. */
    private boolean showsUse() {
      return compareTo(NVLINKS) < 0 || this == PCIE_THROUGHPUT;
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
   * @param uuids the session's GPUs as NVML names them: GPU-, and 36 characters
   * @param ordinal which of them is asked
   * @param number the number of the sensor
   * @param index the link, the counter or the other GPU, for sensors that have several
   */
  public OptionalInt read(List<String> uuids, int ordinal, int number, int index) {
    if (number < 0 || number >= Sensor.values().length || index < 0 || index > LARGEST_INDEX) {
      return OptionalInt.empty();
    }
    Sensor sensor = Sensor.values()[number];
    if (!allowed && sensor.showsUse()) {
      return OptionalInt.empty();
    }
    long now = System.nanoTime();
    return readings.compute(
            uuids.get(ordinal) + sensor + index,
            (key, last) ->
                last != null && now - last.at < KEPT_NANOS
                    ? last
                    : new Reading(ask(uuids, ordinal, sensor, index), now))
        .value;
  }

  private OptionalInt ask(List<String> uuids, int ordinal, Sensor sensor, int index) {
    open();
    if (library == null) {
      return OptionalInt.empty();
    }
    try {
      Pointer gpu = gpu(uuids.get(ordinal));
      if (gpu == null) {
        return OptionalInt.empty();
      }
      return switch (sensor.type) {
        case Sensor.EACH_LINK -> links(gpu, sensor.function);
        case Sensor.INDEX -> ask(sensor.function, gpu, index);
        case Sensor.END -> end(uuids, gpu, sensor.function, index);
        case Sensor.PEER -> toPeer(uuids, gpu, sensor.function, index);
        default -> ask(sensor.function, gpu, sensor.type);
      };
    } catch (UnsatisfiedLinkError e) {
      LOG.debug("{}: {}", LIBRARY, e.getMessage());
      return OptionalInt.empty();
    }
  }

  /** Returns NVML's handle of a GPU; null if NVML does not know it. */
  private Pointer gpu(String uuid) {
    PointerByReference gpu = new PointerByReference();
    Object[] arguments = {uuid, gpu};
    int result = library.getFunction("nvmlDeviceGetHandleByUUID").invokeInt(arguments);
    return result == 0 ? gpu.getValue() : null;
  }

  /** Returns where a link leads, if that is a switch or a GPU of the session. */
  private OptionalInt end(List<String> uuids, Pointer gpu, String function, int link) {
    if (ask(Sensor.NVLINKS.function, gpu, link).orElse(0) != IS_ACTIVE) {
      return OptionalInt.empty();
    }
    int type = ask(Sensor.NVLINK_REMOTE_TYPE.function, gpu, link).orElse(-1);
    if (type == TYPE_SWITCH) {
      return OptionalInt.of(SWITCH);
    }
    Memory remote = new Memory(PCI_INFO);
    Object[] arguments = {gpu, link, remote};
    if (type != TYPE_GPU || library.getFunction(function).invokeInt(arguments) != 0) {
      return OptionalInt.empty();
    }
    byte[] place = remote.getByteArray(PCI_PLACE, PCI_PLACE_BYTES);
    return IntStream.range(0, uuids.size())
        .filter(peer -> Arrays.equals(place, place(uuids.get(peer))))
        .findFirst();
  }

  /** Returns the domain, the bus and the device of a GPU on the bus; null if not known. */
  private byte[] place(String uuid) {
    Pointer gpu = gpu(uuid);
    Memory pci = new Memory(PCI_INFO);
    Object[] arguments = {gpu, pci};
    return gpu == null || library.getFunction("nvmlDeviceGetPciInfo_v3").invokeInt(arguments) != 0
        ? null
        : pci.getByteArray(PCI_PLACE, PCI_PLACE_BYTES);
  }

  private OptionalInt toPeer(List<String> uuids, Pointer gpu, String function, int index) {
    Pointer peer = index < uuids.size() ? gpu(uuids.get(index)) : null;
    IntByReference value = new IntByReference();
    Object[] arguments = {gpu, peer, value};
    return peer != null && library.getFunction(function).invokeInt(arguments) == 0
        ? OptionalInt.of(value.getValue())
        : OptionalInt.empty();
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
            .filter(link -> ask(function, gpu, link).orElse(0) == IS_ACTIVE)
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
