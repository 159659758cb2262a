package graft.remoting.server.session.call;

import graft.remoting.api.Description;
import graft.remoting.api.Function;
import graft.remoting.api.Meaning;
import graft.remoting.api.Parameter;
import graft.remoting.api.Type;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.RandomDevice;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * A device that answers at random, gives out addresses without memory behind them, and notes every
 * call with an address that is not in what it gave out and has not taken back. Which parameters are
 * addresses, and how many bytes they cover, comes from the API's description.
 */
final class BorderDevice implements InvocationHandler {
  /** The first address; nothing of a process lies there. */
  static final long BASE = 1L << 44;

  /** The distance of two allocations, and the size of the largest. */
  static final long SLOT = 1 << 20;

  static final int SLOTS = 4;

  private static final Set<String> ALLOCATING =
      Set.of("cuMemAlloc_v2", "cuMemAllocManaged", "cuMemAllocAsync", "cuMemAllocFromPoolAsync");

  /** What gives memory in other ways; this device has none to give so. */
  private static final Set<String> UNABLE =
      Set.of(
          "cuMemAddressReserve",
          "cuMemPoolImportPointer",
          "cuIpcOpenMemHandle_v2",
          "cuModuleGetGlobal_v2",
          "cuLibraryGetGlobal",
          "cuLibraryGetManaged");

  private static final Set<String> FREEING = Set.of("cuMemFree_v2", "cuMemFreeAsync");

  /** The addresses in calls that the server makes by itself: the address, and the bytes. */
  private static final Map<String, int[]> OWN =
      Map.of(
          "cuMemcpyHtoD_v2", new int[] {0, 2},
          "cuMemcpyHtoDAsync_v2", new int[] {0, 2},
          "cuMemcpyDtoH_v2", new int[] {1, 2},
          "cuMemcpyDtoHAsync_v2", new int[] {1, 2});

  private static final Map<String, Function> DESCRIBED = described();

  private final Random random;
  private final CudaDevice others;
  private final InvocationHandler answers;
  private final TreeMap<Long, Long> live = new TreeMap<>();
  private final List<String> outside = new ArrayList<>();
  private long checked;

  private BorderDevice(Random random) {
    this.random = random;
    this.others = RandomDevice.of(random);
    this.answers = Proxy.getInvocationHandler(others);
  }

  static BorderDevice of(Random random) {
    return new BorderDevice(random);
  }

  CudaDevice device() {
    return (CudaDevice)
        Proxy.newProxyInstance(
            CudaDevice.class.getClassLoader(), new Class<?>[] {CudaDevice.class}, this);
  }

  /** Returns the calls with an address that the session does not have. */
  synchronized List<String> outside() {
    return List.copyOf(outside);
  }

  /** Returns how many addresses were in their borders. */
  synchronized long checked() {
    return checked;
  }

  private static Map<String, Function> described() {
    Map<String, Function> all = new HashMap<>();
    for (Function f : Description.load().wire()) {
      boolean hasAddress = f.parameters().stream().anyMatch(BorderDevice::isAddress);
      if (f.calls().isEmpty() && hasAddress) {
        all.put(f.symbol(), f);
      }
    }
    return all;
  }

  /** Returns whether a parameter is an address whose extent needs no structure. */
  private static boolean isAddress(Parameter p) {
    return p.meaning() != null
        && p.direction() == Parameter.Direction.VALUE
        && p.meaning().kind() == Meaning.Kind.MEMORY
        && p.meaning().extent().filter(extent -> !extent.text().contains("@")).isPresent();
  }

  @Override
  public synchronized Object invoke(Object proxy, Method method, Object[] arguments)
      throws Throwable {
    String name = method.getName();
    check(name, arguments);
    if (ALLOCATING.contains(name)) {
      return allocate((long) arguments[0], (long) arguments[1]);
    }
    if (name.equals("cuMemAllocPitch_v2")) {
      Memory.putLong((long) arguments[1], (long) arguments[2]);
      return allocate((long) arguments[0], (long) arguments[2] * (long) arguments[3]);
    }
    if (UNABLE.contains(name)) {
      return CudaResult.OUT_OF_MEMORY;
    }
    if (name.equals("cuPointerGetAttribute")) {
      return CudaResult.INVALID_VALUE; // the session may name only what it got
    }
    if (FREEING.contains(name)) {
      Long bytes = live.remove((long) arguments[0]);
      if (bytes == null && (long) arguments[0] != 0) {
        note(name, (long) arguments[0], 0);
      }
      return CudaResult.SUCCESS;
    }
    if (name.startsWith("cuMemHostRegister")) {
      live.put((long) arguments[0], (long) arguments[1]);
      return CudaResult.SUCCESS;
    }
    if (name.equals("cuMemHostUnregister")) {
      live.remove((long) arguments[0]);
      return CudaResult.SUCCESS;
    }
    Object result = answers.invoke(others, method, arguments);
    if (name.equals("cuMemHostAlloc") && (int) result == CudaResult.SUCCESS) {
      live.put(Memory.getLong((long) arguments[0]), (long) arguments[1]);
    }
    return result;
  }

  private int allocate(long to, long bytes) {
    long address = BASE + SLOT * random.nextInt(SLOTS);
    if (bytes <= 0 || bytes > SLOT || live.containsKey(address)) {
      return CudaResult.OUT_OF_MEMORY;
    }
    live.put(address, bytes);
    Memory.putLong(to, address);
    return CudaResult.SUCCESS;
  }

  private void check(String name, Object[] arguments) {
    int[] own = OWN.get(name);
    if (own != null) {
      require(name, (long) arguments[own[0]], (long) arguments[own[1]]);
    }
    Function function = DESCRIBED.get(name);
    if (function == null) {
      return;
    }
    Map<String, Long> values = new HashMap<>();
    int next = 0;
    for (Parameter p : function.parameters()) {
      if (p.type().kind() != Type.Kind.BULK) {
        Object value = arguments[next++];
        values.put(p.name(), value instanceof Number number ? number.longValue() : 0L);
      }
    }
    for (Parameter p : function.parameters()) {
      if (isAddress(p)) {
        long bytes = bytes(p.meaning().extent().get().text(), values);
        require(name, values.get(p.name()), bytes);
      }
    }
  }

  /** Returns the bytes that an extent of the description stands for, -1 if there are too many. */
  private static long bytes(String extent, Map<String, Long> values) {
    if (!extent.startsWith("rows(")) {
      return product(extent, values);
    }
    String[] rows = extent.substring(5, extent.length() - 1).split(",", -1);
    long pitch = product(rows[0], values);
    long width = product(rows[1], values);
    long height = product(rows[2], values);
    if (width == 0 || height == 0) {
      return 0;
    }
    try {
      return Math.addExact(Math.multiplyExact(pitch, height - 1), width);
    } catch (ArithmeticException e) {
      return -1;
    }
  }

  private static long product(String text, Map<String, Long> values) {
    long product = 1;
    for (String factor : text.split("\\*", -1)) {
      long value =
          Character.isDigit(factor.charAt(0)) ? Long.parseLong(factor) : values.get(factor);
      if (value < 0 || Math.multiplyHigh(product, value) != 0 || product * value < 0) {
        return -1;
      }
      product *= value;
    }
    return product;
  }

  private void require(String name, long address, long bytes) {
    if (bytes == 0) {
      return;
    }
    Map.Entry<Long, Long> range = live.floorEntry(address);
    if (bytes < 0
        || range == null
        || address - range.getKey() > range.getValue()
        || bytes > range.getValue() - (address - range.getKey())) {
      note(name, address, bytes);
    } else {
      checked++;
    }
  }

  private void note(String name, long address, long bytes) {
    outside.add(String.format("%s at 0x%x, %d bytes", name, address, bytes));
  }
}
