package graft.remoting.server.transport;

/**
 * The addresses of two rings.
 *
 * @param requests the address of the control block of the client's ring (layout: {@code
 *     client/src/transport/ring.h})
 * @param requestsData the address of its data
 * @param answers the address of the control block of the server's ring
 * @param answersData the address of its data
 * @param bytes the size of each ring's data, a power of two
 */
record Rings(long requests, long requestsData, long answers, long answersData, long bytes) {
  private static final long PAGE = 4096;
  private static final long SMALL_RING = 16 << 10;

  /** The bytes that {@link #small} takes. */
  static final long SMALL = 2 * PAGE + 2 * SMALL_RING;

  /** Returns the rings in a region. */
  static Rings of(Region region) {
    long begin = region.rings();
    long data = begin + (1 << 20);
    return new Rings(
        begin + PAGE, data, begin + 2 * PAGE, data + RingTransport.RING, RingTransport.RING);
  }

  /** Returns the rings in pages granted under Xen ({@code client/src/transport/vchan.h}). */
  static Rings granted(long begin) {
    return new Rings(
        begin, begin + PAGE, begin + PAGE / 2, begin + PAGE + GrantedPages.RING, GrantedPages.RING);
  }

  /** Returns rings of a few pages at an address. */
  static Rings small(long begin) {
    long data = begin + 2 * PAGE;
    return new Rings(begin, data, begin + PAGE, data + SMALL_RING, SMALL_RING);
  }

  /** Returns the rings as the client's end sees them: its requests are what it receives. */
  Rings otherEnd() {
    return new Rings(
        /* requests= */ answers,
        /* requestsData= */ answersData,
        /* answers= */ requests,
        /* answersData= */ requestsData,
        bytes);
  }
}
