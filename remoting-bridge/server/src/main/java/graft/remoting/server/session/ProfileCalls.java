package graft.remoting.server.session;

import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.profile.Cupti;
import graft.remoting.server.profile.WorkTimes;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.SessionCalls;
import java.util.Optional;

/** Tells a client when its work ran, where the operator has given workers a profiling library. */
final class ProfileCalls implements SessionCalls.Profile {
  private Optional<Cupti> library = Optional.empty();
  private Optional<WorkTimes> times = Optional.empty();
  private boolean isLoaded;

  @Override
  public int graftProfile(Call call, int on, long nanoseconds) {
    if (on != 0 && on != 1) {
      return CudaResult.INVALID_VALUE;
    }
    if (!isLoaded) {
      isLoaded = true;
      library = Cupti.ofEnvironment();
      times = library.map(WorkTimes::new);
    }
    if (library.isEmpty()) {
      return CudaResult.NOT_SUPPORTED;
    }
    if (on == 0) {
      library.get().end();
    } else if (!library.get().begin()) {
      return CudaResult.NOT_SUPPORTED;
    }
    if (nanoseconds != 0) {
      Memory.putLong(nanoseconds, library.get().now());
    }
    return CudaResult.SUCCESS;
  }

  @Override
  public int graftProfileRead(Call call, long data, int capacity, long count, long lost) {
    if (times.isEmpty()) {
      return CudaResult.NOT_SUPPORTED;
    }
    if (data == 0 || count == 0 || lost == 0) {
      return CudaResult.INVALID_VALUE;
    }
    Memory.putInt(count, times.get().write(data, capacity));
    Memory.putLong(lost, times.get().takeLost());
    return CudaResult.SUCCESS;
  }

  /** The thread is about to queue the client's work of that number, or of none, which is 0. */
  void begin(int number) {
    if (number != 0 && isOn()) {
      library.get().number(number);
    }
  }

  /** The work is queued. */
  void end(int number) {
    if (number != 0 && isOn()) {
      library.get().endNumber();
    }
  }

  private boolean isOn() {
    return library.isPresent() && library.get().isOn();
  }
}
