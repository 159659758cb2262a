package graft.remoting.server.profile;

import graft.remoting.device.Memory;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Reads CUPTI's records. Each version of the library only adds fields at their ends: the offsets
 * are those of CUpti_ActivityKernel4, CUpti_ActivityMemcpy3, CUpti_ActivityMemcpyPtoP2,
 * CUpti_ActivityMemset2 and CUpti_ActivityExternalCorrelation, and of every one since.
 */
final class CuptiRecords {
  // CUpti_ActivityKind
  static final int MEMCPY = 1;
  static final int MEMSET = 2;
  static final int DRIVER = 4;
  static final int CONCURRENT_KERNEL = 10;
  static final int MEMCPY_BETWEEN_DEVICES = 22;
  static final int EXTERNAL_CORRELATION = 39;

  /** The longest name of a kernel that clients get. */
  static final int LONGEST_NAME = 4096;

  private static final int START = 16;
  private static final int END = 24;

  private CuptiRecords() {}

  static int kind(long record) {
    return Memory.getInt(record);
  }

  /** Returns the number that was pushed, from a record of kind EXTERNAL_CORRELATION. */
  static long number(long record) {
    return Memory.getLong(record + 8);
  }

  /** Returns the correlation that the number belongs to, from such a record. */
  static int numbered(long record) {
    return Memory.getInt(record + 16);
  }

  /**
   * Returns the work that a record describes; empty for records of another kind.
   *
   * @param names returns the one copy of a kernel's name, which a program may launch often
   */
  static Optional<WorkRecord> work(long record, UnaryOperator<String> names) {
    return switch (kind(record)) {
      case CONCURRENT_KERNEL -> Optional.of(kernel(record, names));
      case MEMCPY -> Optional.of(copy(record, 44));
      case MEMCPY_BETWEEN_DEVICES -> Optional.of(copy(record, 60));
      case MEMSET -> Optional.of(fill(record));
      default -> Optional.empty();
    };
  }

  private static WorkRecord kernel(long record, UnaryOperator<String> names) {
    long name = Memory.getLong(record + 104);
    return new WorkRecord(
        Memory.getInt(record + 92),
        WorkRecord.Kind.KERNEL,
        Memory.getLong(record + START),
        Memory.getLong(record + END),
        0,
        name == 0 ? "" : names.apply(Memory.string(name, LONGEST_NAME)),
        three(record + 52),
        three(record + 64),
        three(record + 76),
        Short.toUnsignedInt(Memory.getShort(record + 6)),
        0,
        (byte) 0,
        (byte) 0);
  }

  private static WorkRecord copy(long record, int correlation) {
    return new WorkRecord(
        Memory.getInt(record + correlation),
        WorkRecord.Kind.COPY,
        Memory.getLong(record + START),
        Memory.getLong(record + END),
        Memory.getLong(record + 8),
        "",
        List.of(),
        List.of(),
        List.of(),
        0,
        0,
        Memory.getByte(record + 5),
        Memory.getByte(record + 6));
  }

  private static WorkRecord fill(long record) {
    return new WorkRecord(
        Memory.getInt(record + 44),
        WorkRecord.Kind.FILL,
        Memory.getLong(record + START),
        Memory.getLong(record + END),
        Memory.getLong(record + 8),
        "",
        List.of(),
        List.of(),
        List.of(),
        0,
        Memory.getInt(record + 4),
        (byte) 0,
        (byte) Memory.getShort(record + 50));
  }

  private static List<Integer> three(long address) {
    return List.of(Memory.getInt(address), Memory.getInt(address + 4), Memory.getInt(address + 8));
  }
}
