package graft.remoting.server.transport;

/**
 * Where two rings are.
 *
 * @param requests address of the control of the client's ring (layout: {@code
 *     client/src/transport/ring.h})
 * @param requestsData its data
 * @param answers the same of the server's
 * @param bytes of each ring's data, a power of two
 */
record Rings(long requests, long requestsData, long answers, long answersData, long bytes) {
  private static final long PAGE = 4096;

  /** In the part of a region that is the rings'. */
  static Rings of(Region region) {
    long begin = region.rings();
    long data = begin + (1 << 20);
    return new Rings(
        begin + PAGE, data, begin + 2 * PAGE, data + RingTransport.RING, RingTransport.RING);
  }

  /** In pages of Xen ({@code client/src/transport/vchan.h}). */
  static Rings granted(long begin) {
    return new Rings(
        begin, begin + PAGE, begin + PAGE / 2, begin + PAGE + GrantedPages.RING, GrantedPages.RING);
  }
}
