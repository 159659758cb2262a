package graft.remoting.server.session.call;

import graft.remoting.server.exchange.GpuEngine;
import java.util.Arrays;
import java.util.List;

/** Which engine of the GPU a call uses that queues work. */
public final class CallEngine {
  private static final int COPY_3D = Dispatcher.number("graftCopy3D");

  private static final GpuEngine[] BY_FUNCTION = byFunction();

  private CallEngine() {}

  private static GpuEngine[] byFunction() {
    GpuEngine[] engines = new GpuEngine[Dispatcher.FUNCTIONS];
    Arrays.fill(engines, GpuEngine.COMPUTE);
    for (String name :
        List.of(
            "graftWrite",
            "graftWriteKnown",
            "graftCopyFromRegion",
            "graftPeerReceive",
            "graftCopy3D")) {
      engines[Dispatcher.number(name)] = GpuEngine.COPY_TO_DEVICE;
    }
    for (String name :
        List.of(
            "graftRead",
            "graftReadAsync",
            "graftCopyToRegion",
            "graftPeerSend",
            "graftCopy3DRead")) {
      engines[Dispatcher.number(name)] = GpuEngine.COPY_FROM_DEVICE;
    }
    return engines;
  }

  /** Returns the engine of a call for which {@link Dispatcher#works} is true. */
  public static GpuEngine of(Call call) {
    boolean isWithinDevice = call.function() == COPY_3D && !call.hasBulk();
    return isWithinDevice ? GpuEngine.COMPUTE : BY_FUNCTION[call.function()];
  }
}
