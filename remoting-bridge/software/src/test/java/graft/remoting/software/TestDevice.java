package graft.remoting.software;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.software.memory.Native;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A software device with a context, and helpers that use it as a program would. */
public final class TestDevice implements AutoCloseable {
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private final ByteArrayOutputStream errors = new ByteArrayOutputStream();
  private final List<Long> scratch = new ArrayList<>();
  private final SoftwareDevice device;
  private final long context;

  public TestDevice() {
    this(SoftwareDeviceConfig.defaults().withMemoryBytes(256 << 20));
  }

  public TestDevice(SoftwareDeviceConfig config) {
    device =
        SoftwareDevice.create(
            config.withOutput(text -> append(printed, text), text -> append(errors, text)));
    check(device.cuInit(0));
    long result = bytes(8);
    check(device.cuDevicePrimaryCtxRetain(result, 0));
    context = Native.UNSAFE.getLong(result);
    check(device.cuCtxSetCurrent(context));
  }

  /** The driver under test. */
  public SoftwareDevice driver() {
    return device;
  }

  private static void append(ByteArrayOutputStream sink, byte[] text) {
    synchronized (sink) {
      sink.writeBytes(text);
    }
  }

  private static String text(ByteArrayOutputStream sink) {
    synchronized (sink) {
      return sink.toString(StandardCharsets.UTF_8);
    }
  }

  /** What kernels have written to standard output. */
  public String printed() {
    return text(printed);
  }

  /** What kernels have written to standard error. */
  public String errors() {
    return text(errors);
  }

  /** Fails unless a driver call succeeded. */
  public static void check(int result) {
    assertThat(result).as("CUresult").isZero();
  }

  /** Host memory that is freed with the device. */
  public long bytes(long size) {
    long address = Native.UNSAFE.allocateMemory(Math.max(size, 1));
    Native.UNSAFE.setMemory(address, Math.max(size, 1), (byte) 0);
    scratch.add(address);
    return address;
  }

  /** A zero-terminated copy of a text. */
  public long text(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    long address = bytes(utf8.length + 1L);
    Native.put(address, utf8, utf8.length);
    return address;
  }

  /** Reads a test resource. */
  public static String resource(String name) {
    try (InputStream in = TestDevice.class.getResourceAsStream("/ptx/" + name)) {
      assertThat(in).as(name).isNotNull();
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new IllegalStateException(name, e);
    }
  }

  /** Loads PTX text. */
  public long load(String ptx) {
    long module = bytes(8);
    check(device.cuModuleLoadData(module, text(ptx)));
    return Native.UNSAFE.getLong(module);
  }

  /** A kernel of a module. */
  public long function(long module, String name) {
    long function = bytes(8);
    check(device.cuModuleGetFunction(function, module, text(name)));
    return Native.UNSAFE.getLong(function);
  }

  /** Device memory. */
  public long allocate(long size) {
    long address = bytes(8);
    check(device.cuMemAlloc_v2(address, size));
    return Native.UNSAFE.getLong(address);
  }

  /** Device memory with contents. */
  public long upload(int... values) {
    long device = allocate(4L * Math.max(1, values.length));
    long host = bytes(4L * values.length);
    for (int i = 0; i < values.length; i++) {
      Native.UNSAFE.putInt(host + 4L * i, values[i]);
    }
    check(this.device.cuMemcpyHtoD_v2(device, host, 4L * values.length));
    return device;
  }

  /** Device memory with contents. */
  public long upload(float... values) {
    int[] bits = new int[values.length];
    for (int i = 0; i < values.length; i++) {
      bits[i] = Float.floatToRawIntBits(values[i]);
    }
    return upload(bits);
  }

  /** Device memory with contents. */
  public long uploadLongs(long... values) {
    int[] words = new int[values.length * 2];
    for (int i = 0; i < values.length; i++) {
      words[2 * i] = (int) values[i];
      words[2 * i + 1] = (int) (values[i] >>> 32);
    }
    return upload(words);
  }

  /** Contents of device memory. */
  public int[] download(long address, int count) {
    long host = bytes(4L * count);
    check(device.cuMemcpyDtoH_v2(host, address, 4L * count));
    int[] values = new int[count];
    for (int i = 0; i < count; i++) {
      values[i] = Native.UNSAFE.getInt(host + 4L * i);
    }
    return values;
  }

  /** Contents of device memory. */
  public float[] downloadFloats(long address, int count) {
    int[] bits = download(address, count);
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = Float.intBitsToFloat(bits[i]);
    }
    return values;
  }

  /** Contents of device memory. */
  public long[] downloadLongs(long address, int count) {
    int[] words = download(address, 2 * count);
    long[] values = new long[count];
    for (int i = 0; i < count; i++) {
      values[i] = words[2 * i] & 0xffffffffL | (long) words[2 * i + 1] << 32;
    }
    return values;
  }

  /** Pointers to parameter values, as cuLaunchKernel wants them. */
  public long parameters(Object... values) {
    long array = bytes(8L * values.length + 8);
    for (int i = 0; i < values.length; i++) {
      long place = bytes(8);
      if (values[i] instanceof Integer v) {
        Native.UNSAFE.putInt(place, v);
      } else if (values[i] instanceof Long v) {
        Native.UNSAFE.putLong(place, v);
      } else if (values[i] instanceof Float v) {
        Native.UNSAFE.putFloat(place, v);
      } else {
        Native.UNSAFE.putDouble(place, (Double) values[i]);
      }
      Native.UNSAFE.putLong(array + 8L * i, place);
    }
    return array;
  }

  /** Launches a kernel in the default stream and waits. */
  public int run(long function, int grid, int block, Object... parameters) {
    int launched =
        device.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, 0, parameters(parameters), 0);
    return launched != 0 ? launched : device.cuCtxSynchronize();
  }

  @Override
  public void close() {
    device.close();
    scratch.forEach(Native.UNSAFE::freeMemory);
  }
}
