package graft.remoting.server.session;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.device.Sensors;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.RefusedCallException;
import graft.remoting.server.session.call.SessionCalls;
import graft.remoting.server.system.Scratch;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.UUID;

/** Shows what the sensors of the session's GPUs show, as far as the operator allows it. */
final class SensorCalls implements SessionCalls.Sensor {
  private static final int UUID_BYTES = 16;

  private final CudaDevice device;
  private final Sensors sensors = Sensors.ofEnvironment();

  /** The session's GPUs; empty before the first question. */
  private List<String> uuids = List.of();

  SensorCalls(CudaDevice device) {
    this.device = device;
  }

  @Override
  public int graftSensor(Call call, int ordinal, int sensor, long value) {
    return graftSensor_v2(call, ordinal, sensor, 0, value);
  }

  @Override
  public int graftSensor_v2(Call call, int ordinal, int sensor, int index, long value) {
    if (value == 0) {
      return CudaResult.INVALID_VALUE;
    }
    if (uuids.isEmpty()) {
      uuids = uuids();
    }
    if (ordinal < 0 || ordinal >= uuids.size()) {
      return CudaResult.INVALID_DEVICE;
    }
    OptionalInt shown = sensors.read(uuids, ordinal, sensor, index);
    if (shown.isEmpty()) {
      return CudaResult.NOT_SUPPORTED;
    }
    Memory.putInt(value, shown.getAsInt());
    return CudaResult.SUCCESS;
  }

  private List<String> uuids() {
    List<String> found = new ArrayList<>();
    try (Scratch scratch = new Scratch(UUID_BYTES)) {
      check(device.cuDeviceGetCount(scratch.address()));
      int count = Memory.getInt(scratch.address());
      for (int ordinal = 0; ordinal < count; ordinal++) {
        check(device.cuDeviceGet(scratch.address(), ordinal));
        check(device.cuDeviceGetUuid_v2(scratch.address(), Memory.getInt(scratch.address())));
        ByteBuffer uuid = ByteBuffer.wrap(scratch.bytes(0, UUID_BYTES));
        found.add("GPU-" + new UUID(uuid.getLong(), uuid.getLong()));
      }
    }
    return found;
  }

  private static void check(int result) {
    if (result != CudaResult.SUCCESS) {
      throw new RefusedCallException(result);
    }
  }
}
