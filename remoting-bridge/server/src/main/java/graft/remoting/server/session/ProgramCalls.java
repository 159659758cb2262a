package graft.remoting.server.session;

import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.exchange.GuestActivity;
import graft.remoting.server.exchange.GuestProgram;
import graft.remoting.server.exchange.GuestUse;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.SessionCalls;
import graft.remoting.server.session.code.SystemAtomics;
import java.util.function.Consumer;

/**
 * Learns about the program that the session serves, and shows for how long the guest's programs
 * have used the GPU.
 */
final class ProgramCalls implements SessionCalls.Program {
  // The layout of an answer (remoting-bridge/api/README.md).
  private static final int HEADER = 8;
  private static final int PROCESS = 0;
  private static final int MEMORY = 8;
  private static final int BUSY = 16;
  private static final int ENTRY = BUSY + Integer.BYTES * GuestActivity.PERIODS;

  private final Consumer<GuestProgram> told;
  private final GuestUse guest;
  private final SystemAtomics atomics;

  /** The guest learns no time of this machine but since its session began. */
  private final long began = System.nanoTime() / GuestActivity.PERIOD_NANOS;

  private boolean isTold;

  ProgramCalls(Consumer<GuestProgram> told, GuestUse guest, SystemAtomics atomics) {
    this.told = told;
    this.guest = guest;
    this.atomics = atomics;
  }

  /**
   * Writes how much memory each session of the guest has, and for how long it has lately had work
   * on the GPU. Sessions that have neither are left out.
   */
  @Override
  public int graftActivity(Call call, long data, int capacity, long count) {
    if (data == 0 || count == 0 || capacity < HEADER) {
      return CudaResult.INVALID_VALUE;
    }
    GuestActivity.Reading reading = guest.activity().read();
    Memory.putLong(data, reading.at() - began * GuestActivity.PERIOD_NANOS);
    int sessions = 0;
    for (GuestActivity.Session session : reading.sessions()) {
      long memory = guest.used(GuestUse.Resource.DEVICE_MEMORY, session.slot());
      if (memory == 0 && session.busy().stream().allMatch(nanos -> nanos == 0)) {
        continue;
      }
      if (HEADER + (long) ENTRY * (sessions + 1) <= capacity) {
        long at = data + HEADER + (long) ENTRY * sessions;
        Memory.putLong(at + PROCESS, session.process());
        Memory.putLong(at + MEMORY, memory);
        for (int i = 0; i < GuestActivity.PERIODS; i++) {
          Memory.putInt(at + BUSY + (long) Integer.BYTES * i, session.busy().get(i).intValue());
        }
      }
      sessions++;
    }
    Memory.putInt(count, sessions);
    return CudaResult.SUCCESS;
  }

  @Override
  public int graftProgram_v2(Call call, int process, long name, long job) {
    return tell(process, name, Memory.string(job, GuestProgram.LONGEST));
  }

  @Override
  public int graftProgram(Call call, int process, long name) {
    return tell(process, name, "");
  }

  @Override
  public int graftManagedIsShared(Call call) {
    atomics.sharesMemory();
    return CudaResult.SUCCESS;
  }

  private int tell(int process, long name, String job) {
    if (!isTold) {
      isTold = true;
      guest.activity().serves(Integer.toUnsignedLong(process));
      told.accept(
          new GuestProgram(
              Memory.string(name, GuestProgram.LONGEST), Integer.toUnsignedLong(process), job));
    }
    return CudaResult.SUCCESS;
  }
}
