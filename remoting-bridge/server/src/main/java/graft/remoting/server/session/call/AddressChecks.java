package graft.remoting.server.session.call;

import graft.remoting.api.HandleKind;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.memory.AddressSpace;
import graft.remoting.server.session.memory.CopySide;
import graft.remoting.server.session.memory.KnownNumbers;
import graft.remoting.server.session.memory.ShadowMappings;

/**
 * The checks of what a record names, which the generated {@link Dispatcher} makes before it calls:
 * by the meaning that the API's description gives each address. One that fails makes the call fail
 * with CUDA_ERROR_INVALID_VALUE, as a bad pointer does.
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

  /** The call whose record is checked from now on. */
  void begin(Call current) {
    call = current;
  }

  private void require(boolean right) {
    if (!right) {
      refuse();
    }
  }

  /** The record says what it must not. */
  void refuse() {
    call.fail(CudaResult.INVALID_VALUE);
  }

  /** What is not NULL, or has no elements. */
  void given(boolean there, long elements) {
    require(there || elements == 0);
  }

  /** Memory of the session, the device's or what stands for the client's. */
  void memory(long address, long bytes) {
    require(space.holds(address, bytes));
  }

  /** Memory of this process that stands for the client's. */
  void host(long address, long bytes) {
    require(space.holdsHost(address, bytes));
  }

  /** Where such memory may come to lie. */
  void mapping(long address, long bytes) {
    require(ShadowMappings.mayLie(address, bytes));
  }

  /** The start of an allocation, or NULL. */
  void base(long address) {
    require(space.starts(address));
  }

  /** Addresses that the session has reserved. */
  void reserved(long address, long bytes) {
    require(space.holdsReserved(address, bytes));
  }

  /** Memory of the session, or addresses that it has reserved. */
  void place(long address, long bytes) {
    require(space.holdsReserved(address, bytes) || space.holds(address, bytes));
  }

  /** A number that the driver gave. */
  void number(KnownNumbers.Kind kind, long number) {
    require(numbers.has(kind, number));
  }

  /** One side of CUDA_MEMCPY3D. */
  void side(long side, long extent, boolean packed) {
    require(CopySide.check(space, side, extent, packed));
  }

  /** A list whose elements are all there. */
  void whole(long bytes, int element) {
    require(bytes % element == 0);
  }

  /** Makes a pointer in a structure 0. */
  void zero(long at) {
    Memory.putLong(at, 0);
  }

  /** Puts the device's event where a structure has its id. */
  void event(long at) {
    long event = handles.find(HandleKind.EVENT, Memory.getLong(at));
    Memory.putLong(at, event);
    if (event == 0) {
      call.fail(CudaResult.INVALID_HANDLE);
    }
  }

  /** 8 bytes of a structure; none if it is not there. */
  static long number(long structure, int offset) {
    return structure == 0 ? 0 : Memory.getLong(structure + offset);
  }

  /** 4 bytes of a structure, unsigned; none if it is not there. */
  static long unsigned(long structure, int offset) {
    return structure == 0 ? 0 : Integer.toUnsignedLong(Memory.getInt(structure + offset));
  }
}
