package graft.remoting.server.session.launch;

import graft.remoting.device.Memory;

/**
 * Passes a kernel's packed parameters to the driver by its "extra" argument, without copying them
 * out of the record. One list serves all calls.
 */
final class PackedParameters {
  // CU_LAUNCH_PARAM_*, the markers in "extra".
  private static final long BUFFER_POINTER = 1;
  private static final long BUFFER_SIZE = 2;

  private final long extra = Memory.allocate(6 * Long.BYTES);

  PackedParameters() {
    Memory.putLong(extra, BUFFER_POINTER);
    Memory.putLong(extra + 16, BUFFER_SIZE);
    Memory.putLong(extra + 24, extra + 40);
    Memory.putLong(extra + 32, 0);
  }

  /** Returns the "extra" argument for packed parameters, 0 if there are none. */
  long extra(long parameters, int bytes) {
    if (parameters == 0) {
      return 0;
    }
    Memory.putLong(extra + 8, parameters);
    Memory.putLong(extra + 40, Integer.toUnsignedLong(bytes));
    return extra;
  }
}
