package graft.remoting.server.session.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.exchange.GuestUse;
import graft.remoting.server.exchange.Limit;
import graft.remoting.server.system.Scratch;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** The allocations of one session, counted against its limit of device memory. Thread-safe. */
final class MemoryAccount {
  /** CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT. */
  private static final int RESERVED_MEM_CURRENT = 2;

  private final CudaDevice device;

  /**
   * The largest number of allocations of one kind. The driver and this process keep a record of
   * each, however small the allocation is.
   */
  private static final int MOST_ALLOCATIONS = 1 << 20;

  private final MemoryLimit limit;
  private final AtomicLong used = new AtomicLong();
  private final AtomicLong peak = new AtomicLong();
  private volatile boolean graphsAllocate;

  @GuardedBy("this")
  private final Map<Kind, Map<Long, Allocation>> allocations = new EnumMap<>(Kind.class);

  /** The kinds of allocations, whose handles may be equal numbers. */
  enum Kind {
    MEMORY,
    ARRAY,
    PHYSICAL
  }

  /**
   * An allocation.
   *
   * @param context what it ends with; {@link #NO_CONTEXT} if it may outlive its context
   */
  private record Allocation(long bytes, long context) {}

  private static final long NO_CONTEXT = 0;

  /** A call of the driver that allocates memory, and its result. */
  interface Allocator {
    int allocate();
  }

  /**
   * Creates the account of a session on {@code device}.
   *
   * @param limit the limits that the memory counts against
   */
  MemoryAccount(CudaDevice device, MemoryLimit limit) {
    this.device = device;
    this.limit = limit;
    for (Kind kind : Kind.values()) {
      allocations.put(kind, new HashMap<>());
    }
  }

  /** Returns the limit in bytes, 0 for none. */
  long limit() {
    return limit.bytes();
  }

  /** Returns the bytes that are allocated. */
  long used() {
    return used.get() + (graphsAllocate ? graphMemory() : 0);
  }

  /**
   * Returns the most bytes that were allocated. Memory that graphs allocate counts as it is when
   * this is called.
   */
  long peak() {
    return peak.accumulateAndGet(used(), Math::max);
  }

  /** Returns whether an allocation of {@code bytes}, unsigned, is within the limit. */
  boolean hasRoom(long bytes) {
    if (!isWithinSession(bytes) || !takeForGuest(bytes)) {
      return false;
    }
    limit.guest().add(GuestUse.Resource.DEVICE_MEMORY, -bytes);
    return true;
  }

  /** Returns whether {@code bytes} more would be within the limit, and tells nobody if not. */
  boolean wouldFit(long bytes) {
    if (!isWithin(bytes) || !limit.guest().take(GuestUse.Resource.DEVICE_MEMORY, bytes)) {
      return false;
    }
    limit.guest().add(GuestUse.Resource.DEVICE_MEMORY, -bytes);
    return true;
  }

  private boolean isWithinSession(long bytes) {
    boolean is = isWithin(bytes);
    if (!is) {
      limit.reached().accept(Limit.SESSION_DEVICE_MEMORY);
    }
    return is;
  }

  private boolean isWithin(long bytes) {
    long left = limit.bytes() - used();
    return limit.bytes() == 0 || (left >= 0 && Long.compareUnsigned(bytes, left) <= 0);
  }

  /** Counts bytes for the guest if its limit allows it. */
  private boolean takeForGuest(long bytes) {
    boolean taken = limit.guest().take(GuestUse.Resource.DEVICE_MEMORY, bytes);
    if (!taken) {
      limit.reached().accept(Limit.GUEST_DEVICE_MEMORY);
    }
    return taken;
  }

  private void change(long bytes) {
    peak.accumulateAndGet(used.addAndGet(bytes), Math::max);
    limit.guest().add(GuestUse.Resource.DEVICE_MEMORY, bytes);
  }

  /**
   * Returns the memory that the driver holds for the memory nodes of graphs; it changes as graphs
   * are launched.
   */
  private long graphMemory() {
    try (Scratch scratch = new Scratch(8)) {
      return device.cuDeviceGetGraphMemAttribute(0, RESERVED_MEM_CURRENT, scratch.address())
              == CudaResult.SUCCESS
          ? Memory.getLong(scratch.address())
          : 0;
    }
  }

  /** Counts the memory that nodes of graphs allocate from now on. */
  void countGraphs() {
    graphsAllocate = true;
  }

  /** Returns whether a graph that may allocate memory can be launched within the limit. */
  boolean mayLaunchGraph() {
    return !graphsAllocate || hasRoom(0);
  }

  /** Counts memory of this process that stands for the client's; negative when it is released. */
  void countHost(long bytes) {
    change(bytes);
  }

  /**
   * Allocates if the limit allows it, and counts the memory.
   *
   * @param result where the call writes the handle of the memory; 0 if nothing is to be counted yet
   */
  synchronized int allocate(Kind kind, long bytes, long result, Allocator allocator) {
    return allocate(kind, bytes, result, DeviceState.currentContext(device), allocator);
  }

  /**
   * Does the same for memory of a device's pool. It counts until it is freed, whatever becomes of
   * the context: natively {@code cuMemFreeAsync} of such memory succeeds when the context is gone,
   * and a guest that destroys contexts must not get beyond its limit.
   */
  synchronized int allocateFromPool(long bytes, long result, Allocator allocator) {
    return allocate(Kind.MEMORY, bytes, result, NO_CONTEXT, allocator);
  }

  @GuardedBy("this")
  private int allocate(Kind kind, long bytes, long result, long context, Allocator allocator) {
    if (of(kind).size() >= MOST_ALLOCATIONS || !isWithinSession(bytes) || !takeForGuest(bytes)) {
      return CudaResult.OUT_OF_MEMORY;
    }
    try {
      int code = allocator.allocate();
      if (code == CudaResult.SUCCESS && result != 0) {
        count(kind, Memory.getLong(result), bytes, context);
      }
      return code;
    } finally {
      // What was allocated is counted by now.
      limit.guest().add(GuestUse.Resource.DEVICE_MEMORY, -bytes);
    }
  }

  /** Counts an allocation that has been made. */
  synchronized void count(Kind kind, long handle, long bytes) {
    count(kind, handle, bytes, DeviceState.currentContext(device));
  }

  @GuardedBy("this")
  private void count(Kind kind, long handle, long bytes, long context) {
    if (handle == 0) {
      return;
    }
    Allocation before = of(kind).put(handle, new Allocation(bytes, context));
    change(bytes - (before == null ? 0 : before.bytes()));
  }

  /** Stops counting an allocation if the call that frees it has succeeded; returns its result. */
  synchronized int free(Kind kind, long handle, int code) {
    Allocation allocation = code == CudaResult.SUCCESS ? of(kind).remove(handle) : null;
    if (allocation != null) {
      change(-allocation.bytes());
    }
    return code;
  }

  /** Stops counting the memory of a destroyed context, which physical and pools' memory outlive. */
  synchronized void forgetContext(long context) {
    for (Kind kind : new Kind[] {Kind.MEMORY, Kind.ARRAY}) {
      of(kind)
          .values()
          .removeIf(
              allocation -> {
                boolean gone = allocation.context() == context;
                change(gone ? -allocation.bytes() : 0);
                return gone;
              });
    }
  }

  /** Returns whether an allocation is counted. */
  synchronized boolean has(Kind kind, long handle) {
    return of(kind).containsKey(handle);
  }

  /** Returns the bytes of an allocation, 0 if none is counted. */
  synchronized long bytes(Kind kind, long handle) {
    Allocation allocation = of(kind).get(handle);
    return allocation == null ? 0 : allocation.bytes();
  }

  @GuardedBy("this")
  private Map<Long, Allocation> of(Kind kind) {
    return allocations.get(kind);
  }
}
