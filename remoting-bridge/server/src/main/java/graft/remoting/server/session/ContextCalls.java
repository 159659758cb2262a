package graft.remoting.server.session;

import graft.remoting.api.HandleKind;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.HandleTables;
import graft.remoting.server.session.call.SessionCalls;
import graft.remoting.server.session.memory.AccountedDevice;
import graft.remoting.server.session.memory.HostCountedDevice;
import graft.remoting.server.session.memory.TrackedDevice;
import graft.remoting.server.session.state.SessionState;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The calls on contexts, and the snapshot of the devices that a client asks for when it connects.
 */
final class ContextCalls implements SessionCalls.Context {
  private static final Logger LOG = LoggerFactory.getLogger(ContextCalls.class);

  // The snapshot's layout (remoting-bridge/api/README.md).
  private static final int SNAPSHOT_MEMORY = 8;
  private static final int SNAPSHOT_UUID = 16;
  private static final int SNAPSHOT_DRIVER = 32;
  private static final int DRIVER = 16;
  private static final int SNAPSHOT_NAME = 48;
  private static final int NAME = 256;
  private static final int SNAPSHOT_PRIORITIES = 304;
  private static final int SNAPSHOT_COUNT = 312;
  private static final int SNAPSHOT_ATTRIBUTES = 320;

  /**
   * A few more than CUDA 13.0 defines, so that the attributes of a newer driver are in the snapshot
   * too.
   */
  private static final int ATTRIBUTES = 160;

  private final AccountedDevice device;
  private final TrackedDevice tracked;
  private final HostCountedDevice counted;
  private final HandleTables handles;
  private final SessionState state;
  private long warmContexts;

  /** How often the client has retained the primary context of each device. */
  private final Map<Integer, Integer> references = new HashMap<>();

  /**
   * Creates the calls of one session.
   *
   * @param warmContexts one bit for each device whose primary context the worker has already
   *     retained; the client's first retain takes over that reference
   */
  ContextCalls(
      AccountedDevice device,
      TrackedDevice tracked,
      HostCountedDevice counted,
      HandleTables handles,
      SessionState state,
      long warmContexts) {
    this.device = device;
    this.tracked = tracked;
    this.counted = counted;
    this.handles = handles;
    this.state = state;
    this.warmContexts = warmContexts;
  }

  @Override
  public int graftSnapshot(Call call, int ordinal, long data, int capacity) {
    int size = SNAPSHOT_ATTRIBUTES + 4 * ATTRIBUTES;
    if (data == 0 || capacity < size) {
      return CudaResult.INVALID_VALUE;
    }
    int result = device.cuDriverGetVersion(data);
    if (result == CudaResult.SUCCESS) {
      result = device.cuDeviceGetCount(data + 4);
    }
    if (result != CudaResult.SUCCESS || Memory.getInt(data + 4) == 0) {
      return result;
    }
    try (Scratch scratch = new Scratch(8)) {
      result = device.cuDeviceGet(scratch.address(), ordinal);
      int dev = Memory.getInt(scratch.address());
      if (result == CudaResult.SUCCESS) {
        result = device.cuDeviceTotalMem_v2(data + SNAPSHOT_MEMORY, dev);
      }
      if (result == CudaResult.SUCCESS) {
        result = device.cuDeviceGetName(data + SNAPSHOT_NAME, NAME, dev);
      }
      if (result == CudaResult.SUCCESS) {
        result = device.cuDeviceGetUuid_v2(data + SNAPSHOT_UUID, dev);
      }
      if (result != CudaResult.SUCCESS) {
        return result;
      }
      driverVersion(data + SNAPSHOT_DRIVER);
      priorities(dev, data + SNAPSHOT_PRIORITIES);
      Memory.putInt(data + SNAPSHOT_COUNT, ATTRIBUTES);
      for (int attribute = 1; attribute <= ATTRIBUTES; attribute++) {
        long at = data + SNAPSHOT_ATTRIBUTES + 4L * (attribute - 1);
        boolean there =
            device.cuDeviceGetAttribute(scratch.address(), attribute, dev) == CudaResult.SUCCESS;
        Memory.putInt(at, there ? Memory.getInt(scratch.address()) : Integer.MIN_VALUE);
      }
      return CudaResult.SUCCESS;
    }
  }

  /**
   * Writes the version of the owner's NVIDIA driver as its tools print it, such as 580.159.03; the
   * field stays empty if the host has no such driver.
   */
  private static void driverVersion(long at) {
    Memory.fill(at, DRIVER, (byte) 0);
    try {
      Matcher version =
          Pattern.compile("Kernel Module.*?\\s(\\d+(\\.\\d+)+)\\s")
              .matcher(Files.readString(Path.of("/proc/driver/nvidia/version")));
      if (version.find() && version.group(1).length() < DRIVER) {
        byte[] text = version.group(1).getBytes(StandardCharsets.US_ASCII);
        Memory.write(at, text, 0, text.length);
      }
    } catch (IOException e) {
      LOG.debug("the version of the NVIDIA driver could not be read: {}", e.getMessage());
    }
  }

  /**
   * Writes the range of stream priorities. The range is the same in every context of a device, but
   * CUDA answers only while a context is current. If the worker has made no context of the first
   * GPU, the one that is made for this question stays for the client, which uses that GPU next, so
   * that it is not made twice.
   */
  private void priorities(int dev, long at) {
    if (dev == 0 && !isActive(dev)) {
      try (Scratch made = new Scratch(8)) {
        if (device.cuDevicePrimaryCtxRetain(made.address(), dev) == CudaResult.SUCCESS) {
          warmContexts |= 1;
        }
      }
    }
    inPrimary(dev, () -> device.cuCtxGetStreamPriorityRange(at, at + 4));
  }

  /** Writes the free and total bytes within the session's limit. */
  @Override
  public int graftMemoryInfo(Call call, int dev, long free, long total) {
    return inPrimary(dev, () -> device.cuMemGetInfo_v2(free, total));
  }

  /** Runs a query while the device's primary context is current. */
  private int inPrimary(int dev, IntSupplier question) {
    try (Scratch scratch = new Scratch(8)) {
      int result = device.cuDevicePrimaryCtxRetain(scratch.address(), dev);
      if (result != CudaResult.SUCCESS) {
        return result;
      }
      result = device.cuCtxSetCurrent(Memory.getLong(scratch.address()));
      if (result == CudaResult.SUCCESS) {
        result = question.getAsInt();
      }
      device.cuCtxSetCurrent(state.context().handle());
      device.cuDevicePrimaryCtxRelease_v2(dev);
      return result;
    }
  }

  @Override
  public int graftPrimaryContextRetain(Call call, long context, int dev, int flags) {
    try (Scratch scratch = new Scratch(8)) {
      int result = device.cuDevicePrimaryCtxGetState(dev, scratch.address(), scratch.address() + 4);
      if (result != CudaResult.SUCCESS) {
        return result;
      }
      if (Memory.getInt(scratch.address()) != flags) {
        // The driver may refuse flags for a context that is already active. Ignoring the refusal is
        // safe: the flags only say how the context's host threads wait, and those threads are the
        // server's.
        device.cuDevicePrimaryCtxSetFlags_v2(dev, flags);
      }
    }
    int result = device.cuDevicePrimaryCtxRetain(context, dev);
    if (result == CudaResult.SUCCESS) {
      references.merge(dev, 1, Integer::sum);
    }
    if (result == CudaResult.SUCCESS && (warmContexts >>> dev & 1) != 0) {
      warmContexts &= ~(1L << dev);
      device.cuDevicePrimaryCtxRelease_v2(dev);
    }
    return result;
  }

  @Override
  public int graftPrimaryContextRelease(Call call, long context, int dev, int reset) {
    // The client may have retained the context several times; only the last release destroys it.
    if (reset != 0 || references.getOrDefault(dev, 0) <= 1) {
      state.forget(context);
    } else {
      state.leave(context);
    }
    int result =
        reset != 0
            ? device.cuDevicePrimaryCtxReset_v2(dev)
            : device.cuDevicePrimaryCtxRelease_v2(dev);
    if (reset == 0 && result == CudaResult.SUCCESS) {
      references.merge(dev, -1, Integer::sum);
    }
    if (reset != 0 || !isActive(dev)) {
      forget(context);
    }
    return result;
  }

  private boolean isActive(int dev) {
    try (Scratch state = new Scratch(8)) {
      return device.cuDevicePrimaryCtxGetState(dev, state.address(), state.address() + 4)
              == CudaResult.SUCCESS
          && Memory.getInt(state.address() + 4) != 0;
    }
  }

  @Override
  public int graftContextCreate(Call call, long context, int flags, int dev) {
    int result = device.cuCtxCreate_v2(context, flags, dev);
    if (result == CudaResult.SUCCESS) {
      // cuCtxCreate has made the new context current. That is undone here, because each record of
      // the client names the context that is current to it.
      try (Scratch scratch = new Scratch(8)) {
        device.cuCtxPopCurrent_v2(scratch.address());
      }
      device.cuCtxSetCurrent(state.context().handle());
    }
    return result;
  }

  @Override
  public int graftContextDestroy(Call call, long context) {
    state.forget(context);
    int result = device.cuCtxDestroy_v2(context);
    if (result == CudaResult.SUCCESS) {
      forget(context);
    }
    return result;
  }

  private void forget(long context) {
    device.forgetContext(context);
    counted.forgetContext(context);
    tracked.forgetContext(context);
    handles.dropOwned(HandleKind.CONTEXT, context);
  }

  @Override
  public int graftTopology(Call call, int dev, long cluster, long place, int capacity, long count) {
    return Topology.read(device, dev, cluster, place, capacity, count);
  }
}
