package graft.remoting.server.session;

import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.exchange.GuestProgram;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.call.SessionCalls;
import java.util.function.Consumer;

/** Learns which program the session serves; only the first call counts. */
final class ProgramCalls implements SessionCalls.Program {
  private final Consumer<GuestProgram> told;
  private boolean isTold;

  ProgramCalls(Consumer<GuestProgram> told) {
    this.told = told;
  }

  @Override
  public int graftProgram_v2(Call call, int process, long name, long job) {
    return tell(process, name, Memory.string(job, GuestProgram.LONGEST));
  }

  @Override
  public int graftProgram(Call call, int process, long name) {
    return tell(process, name, "");
  }

  private int tell(int process, long name, String job) {
    if (!isTold) {
      isTold = true;
      told.accept(
          new GuestProgram(
              Memory.string(name, GuestProgram.LONGEST), Integer.toUnsignedLong(process), job));
    }
    return CudaResult.SUCCESS;
  }
}
