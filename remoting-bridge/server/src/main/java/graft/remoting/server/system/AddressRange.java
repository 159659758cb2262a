package graft.remoting.server.system;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The range of addresses in which a worker's device memory lies. A program that uses several
 * servers asks each of them for another range, so that an address tells its server.
 *
 * <p>The driver chooses the addresses of device memory among the free addresses of its process, and
 * so does the C library for large blocks, such as the memory of the software device. A worker
 * therefore reserves all free addresses outside its range before it opens its device. Memory at
 * addresses that the client chooses (shadow mappings, shared regions) lies in neither: {@link
 * #OTHERS_FIRST}. The driver reserves addresses for pools and virtual memory when it starts, at the
 * lowest that are free, so that these become free for clients only then: {@link #admitClients}.
 */
public final class AddressRange {
  /** Device memory may lie anywhere. */
  public static final int ANY = 0;

  /** The number of the last range; the first is 1. */
  public static final int LAST = 7;

  /** The variable of a worker's environment that has its range. */
  public static final String VARIABLE = "GRAFT_WORKER_ADDRESSES";

  /** The size of a range in bytes. */
  static final long SIZE = 8L << 40;

  /** The first address of the first range. */
  private static final long FIRST = 0x4000_0000_0000L;

  /**
   * The first address of regions and shadow mappings, which the client chooses; they end at {@link
   * #FIRST}.
   */
  private static final long OTHERS_FIRST = 0x2000_0000_0000L;

  /**
   * Addresses below this stay free: NVIDIA's driver maps its devices at fixed addresses from
   * 0x200000000 on, and fails without them. From here on it places virtual memory and pools, if it
   * may (H100, driver 580).
   */
  private static final long LOWEST = 0x3_0020_0000L;

  /** The end of the addresses that Linux gives to programs, on a boundary of {@link #GRAIN}. */
  private static final long END = (1L << 47) - (2L << 20);

  /** Device memory begins at multiples of this, so that smaller holes need not be reserved. */
  private static final long GRAIN = 2L << 20;

  /** What the main thread's stack may grow by, in bytes. */
  private static final long STACK = 256L << 20;

  /** getauxval(3): the address of 16 random bytes, which lie on the main thread's stack. */
  private static final long AT_RANDOM = 25;

  private static final int MAP_NORESERVE = 0x4000;

  /** The reserved pieces of the addresses that clients choose. */
  private final List<Piece> ofClients = new ArrayList<>();

  private record Piece(long address, long bytes) {}

  private AddressRange() {}

  /** Returns whether there is a range of that number, or it is {@link #ANY}. */
  public static boolean exists(int number) {
    return number >= ANY && number <= LAST;
  }

  /** Returns the first address of a range. */
  static long first(int number) {
    return FIRST + (number - 1) * SIZE;
  }

  /** Returns the range that a worker's environment names. */
  public static int of(Map<String, String> environment) {
    return Integer.parseInt(environment.getOrDefault(VARIABLE, Integer.toString(ANY)));
  }

  /**
   * Reserves all free addresses of this process outside the range, except low ones. Does nothing
   * for {@link #ANY}.
   */
  public static AddressRange claim(int number) {
    AddressRange claimed = new AddressRange();
    if (number != ANY) {
      long first = first(number);
      long stack = Math.min(END, (Libc.getauxval(AT_RANDOM) & -GRAIN) - STACK);
      List<Piece> others = new ArrayList<>();
      reserve(LOWEST, OTHERS_FIRST, others);
      reserve(OTHERS_FIRST, FIRST, claimed.ofClients);
      reserve(FIRST, first, others);
      reserve(first + SIZE, stack, others);
    }
    return claimed;
  }

  /** Frees the addresses that clients choose, once the device is open. */
  public void admitClients() {
    ofClients.forEach(piece -> Libc.munmap(piece.address, piece.bytes));
    ofClients.clear();
  }

  /**
   * Reserves what is free between two addresses: in one piece, or, if something is there, each half
   * by itself.
   */
  private static void reserve(long from, long to, List<Piece> reserved) {
    if (to <= from) {
      return;
    }
    if (isReserved(from, to - from)) {
      reserved.add(new Piece(from, to - from));
    } else if (to - from > GRAIN) {
      long middle = from + ((to - from) / 2 & -GRAIN);
      reserve(from, middle, reserved);
      reserve(middle, to, reserved);
    }
  }

  private static boolean isReserved(long address, long bytes) {
    int kind = Libc.MAP_PRIVATE | Libc.MAP_ANONYMOUS | Libc.MAP_FIXED_NOREPLACE | MAP_NORESERVE;
    long got = Libc.mmap(address, bytes, 0, kind, -1, 0);
    if (got != address && got != -1) {
      // Kernels before 4.17 do not know MAP_FIXED_NOREPLACE and treat the address as a hint.
      Libc.munmap(got, bytes);
    }
    return got == address;
  }
}
