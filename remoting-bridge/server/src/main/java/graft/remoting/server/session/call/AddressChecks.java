package graft.remoting.server.session.call;

import graft.remoting.api.HandleKind;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.memory.AddressSpace;
import graft.remoting.server.session.memory.CopySide;
import graft.remoting.server.session.memory.KnownNumbers;
import graft.remoting.server.session.memory.ShadowMappings;

/**
 * The checks of the addresses in a record, by the meaning that {@code driver.api} gives each
 * address. The generated {@link Dispatcher} runs the checks before it calls the device. A call
 * whose check fails returns CUDA_ERROR_INVALID_VALUE, as CUDA does for a bad pointer.
 */
public final class AddressChecks {
  private final AddressSpace space;
  private final KnownNumbers numbers;
  private final HandleTables handles;
  private Call call;

  public AddressChecks(AddressSpace space, KnownNumbers numbers, HandleTables handles) {
    this.space = space;
    this.numbers = numbers;
    this.handles = handles;
  }

  /** Sets the call whose record is checked from now on. */
  void begin(Call current) {
    call = current;
  }

  private void require(boolean right) {
    if (!right) {
      refuse();
    }
  }

  /** Fails the call for what its record contains. */
  void refuse() {
    call.fail(CudaResult.INVALID_VALUE);
  }

  /** Checks that a parameter is not NULL, or that it has no elements. */
  void given(boolean there, long elements) {
    require(there || elements == 0);
  }

  /**
   * Checks that a range is memory of the session: the device's, or host memory that stands for the
   * client's.
   */
  void memory(long address, long bytes) {
    require(space.holds(address, bytes));
  }

  /** Checks that a range is memory of this process that stands for the client's. */
  void host(long address, long bytes) {
    require(space.holdsHost(address, bytes));
  }

  /** Checks that a range is where shadow mappings may lie. */
  void mapping(long address, long bytes) {
    require(ShadowMappings.mayLie(address, bytes));
  }

  /** Checks that an address is the start of an allocation, or NULL. */
  void base(long address) {
    require(space.starts(address));
  }

  /** Checks that a range lies within addresses that the session has reserved. */
  void reserved(long address, long bytes) {
    require(space.holdsReserved(address, bytes));
  }

  /**
   * Checks that a range is memory of the session, or lies within addresses that the session has
   * reserved.
   */
  void place(long address, long bytes) {
    require(space.holdsReserved(address, bytes) || space.holds(address, bytes));
  }

  /** Checks that the driver gave a number to this session. */
  void number(KnownNumbers.Kind kind, long number) {
    require(numbers.has(kind, number));
  }

  /** Checks one side of CUDA_MEMCPY3D. */
  void side(long side, long extent, boolean packed) {
    require(CopySide.check(space, side, extent, packed));
  }

  /** Checks that a list has a whole number of elements. */
  void whole(long bytes, int element) {
    require(bytes % element == 0);
  }

  /** Sets a pointer in a structure to 0. */
  void zero(long at) {
    Memory.putLong(at, 0);
  }

  /** Replaces the id of an event in a structure with the device's event. */
  void event(long at) {
    long event = handles.find(HandleKind.EVENT, Memory.getLong(at));
    Memory.putLong(at, event);
    if (event == 0) {
      call.fail(CudaResult.INVALID_HANDLE);
    }
  }

  /** Returns 8 bytes of a structure, or 0 if the structure is NULL. */
  static long number(long structure, int offset) {
    return structure == 0 ? 0 : Memory.getLong(structure + offset);
  }

  /** Returns 4 bytes of a structure, unsigned, or 0 if the structure is NULL. */
  static long unsigned(long structure, int offset) {
    return structure == 0 ? 0 : Integer.toUnsignedLong(Memory.getInt(structure + offset));
  }
}
