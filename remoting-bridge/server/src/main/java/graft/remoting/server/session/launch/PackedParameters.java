package graft.remoting.server.session.launch;

import graft.remoting.device.Memory;

/**
 * A kernel's parameters as they lie packed in a record, given to the driver by its "extra" argument
 * without a copy. One list, written anew for each call.
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

  /** The "extra" argument that hands packed parameters over; 0 if there are none. */
  long extra(long parameters, int bytes) {
    if (parameters == 0) {
      return 0;
    }
    Memory.putLong(extra + 8, parameters);
    Memory.putLong(extra + 40, Integer.toUnsignedLong(bytes));
    return extra;
  }
}
