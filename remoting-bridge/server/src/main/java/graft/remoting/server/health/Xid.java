package graft.remoting.server.health;

import java.util.Map;
import java.util.Optional;

/**
 * The Xid errors after which a GPU cannot be used until it has been reset, or its machine has been
 * started again, from NVIDIA's page "XID Errors". All others concern one program (13, 31, 43, 45,
 * 94), or are warnings.
 */
final class Xid {
  private static final Map<Long, String> FATAL =
      Map.ofEntries(
          Map.entry(46L, "the GPU stopped processing"),
          Map.entry(48L, "an uncorrectable memory error"),
          Map.entry(62L, "the GPU's microcontroller halted"),
          Map.entry(64L, "a memory row could not be remapped"),
          Map.entry(74L, "an error of NVLink"),
          Map.entry(79L, "the GPU has fallen off the bus"),
          Map.entry(95L, "an uncontained memory error"),
          Map.entry(119L, "the GPU's system processor does not answer"),
          Map.entry(120L, "an error of the GPU's system processor"),
          Map.entry(140L, "an unrecovered memory error"),
          Map.entry(143L, "the GPU could not be initialized"));

  private Xid() {}

  /** What a fatal error means; empty for an error that leaves the GPU usable. */
  static Optional<String> fatal(long number) {
    return Optional.ofNullable(FATAL.get(number));
  }
}
