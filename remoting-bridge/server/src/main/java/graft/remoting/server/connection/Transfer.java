package graft.remoting.server.connection;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

/** The bulk data of one record from the client, in chunks on any data connection. */
final class Transfer {
  private final long number;
  private final Destination destination;
  private final long bytes;
  private final boolean overlapsEarlier;
  private final AtomicLong missing;

  /** The ranges that have arrived, end by start. */
  @GuardedBy("this")
  private final TreeMap<Long, Long> arrived = new TreeMap<>();

  @GuardedBy("this")
  private long unclaimed;

  /**
   * Creates a transfer.
   *
   * @param overlapsEarlier whether an earlier transfer is received directly into the same memory
   */
  Transfer(long number, Destination destination, long bytes, boolean overlapsEarlier) {
    this.number = number;
    this.destination = destination;
    this.bytes = bytes;
    this.overlapsEarlier = overlapsEarlier;
    this.missing = new AtomicLong(bytes);
    this.unclaimed = bytes;
  }

  /**
   * Returns the transfer's number. Both ends count transfers from 1 in the order of the records.
   */
  long number() {
    return number;
  }

  Destination destination() {
    return destination;
  }

  long bytes() {
    return bytes;
  }

  boolean overlapsEarlier() {
    return overlapsEarlier;
  }

  /** Returns whether all chunks have arrived. */
  boolean hasArrived() {
    return missing.get() == 0;
  }

  /** Returns whether chunks are received directly into part of that memory. */
  boolean goesTo(long address, long length) {
    long start = destination.address();
    return start != 0 && start - address < length && address - start < bytes;
  }

  /**
   * Assigns a chunk to the connection that announces it. Returns false if the transfer has no such
   * chunk.
   */
  synchronized boolean claim(long offset, long length) {
    if (length <= 0 || offset < 0 || offset > bytes - length || length > unclaimed) {
      return false;
    }
    unclaimed -= length;
    return true;
  }

  /** Counts a chunk that has arrived. Returns whether it was the last. */
  boolean count(long length) {
    return missing.addAndGet(-length) == 0;
  }

  /** Notes a range that has arrived. */
  synchronized void note(long offset, long length) {
    Map.Entry<Long, Long> before = arrived.floorEntry(offset);
    boolean continues = before != null && before.getValue() == offset;
    Long behind = arrived.remove(offset + length);
    arrived.put(continues ? before.getKey() : offset, behind != null ? behind : offset + length);
  }

  /** Returns whether the transfer will not write to that memory any more. */
  synchronized boolean isDoneWith(long address, long length) {
    if (!goesTo(address, length)) {
      return true;
    }
    long from = Math.max(address - destination.address(), 0);
    long to = Math.min(address - destination.address() + length, bytes);
    Map.Entry<Long, Long> there = arrived.floorEntry(from);
    return there != null && there.getValue() >= to;
  }
}
