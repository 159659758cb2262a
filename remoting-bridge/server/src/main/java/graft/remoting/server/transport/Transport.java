package graft.remoting.server.transport;

import graft.remoting.server.connection.StreamChannel;
import graft.remoting.server.device.GpuDirect;
import graft.remoting.server.system.NativeSocket;
import java.io.IOException;

/**
 * Moves a session's bytes in both directions, below {@link StreamChannel}: a socket, rings in
 * shared memory, or UCX.
 */
public interface Transport extends AutoCloseable {
  /** Returned by a receive at the end of the stream. */
  int END = NativeSocket.END;

  /** Returned by a receive that does not wait when no data has arrived. */
  int NOTHING = NativeSocket.NOTHING;

  /**
   * Receives up to {@code length} bytes without waiting. Returns their number, {@link #END} or
   * {@link #NOTHING}.
   */
  long tryReceive(long address, long length) throws IOException;

  /** Returns how often to poll before reading the clock is worth its cost. */
  default int looksAtOnce() {
    return 1;
  }

  /**
   * Waits and receives up to {@code length} bytes. Returns their number, which is at least 1, or
   * {@link #END}.
   */
  long receive(long address, long length) throws IOException;

  /**
   * Sends all bytes, waiting while the peer does not read. Only one thread at a time may send.
   *
   * @param more whether more data follows immediately, so that both may be sent together
   */
  void sendAll(long address, long length, boolean more) throws IOException;

  /**
   * Receives all bytes or, if the transport can have several receives in progress, begins to
   * receive them. The bytes have arrived when {@link #hasReceived} returns true for the mark that
   * this returns. Only the receiving thread calls this.
   */
  default long beginReceive(long address, long length) throws IOException {
    for (long done = 0; done < length; ) {
      long count = receive(address + done, length - done);
      if (count == END) {
        throw new IOException("the client closed a connection in the middle of bulk data");
      }
      done += Math.max(0, count);
    }
    return 0;
  }

  /** Returns whether several receives can be in progress at once. */
  default boolean receivesSeveral() {
    return false;
  }

  /** Returns whether all receives up to that mark have finished. */
  default boolean hasReceived(long mark) {
    return true;
  }

  /** Progresses the receives, and waits until one of them advances or new data has arrived. */
  default void progress() throws IOException {}

  /**
   * As {@link #beginReceive}, into memory of the GPU. Allowed only where {@link GpuDirect} has
   * found it possible.
   */
  default long beginReceiveToGpu(long address, long length) throws IOException {
    throw new UnsupportedOperationException("this transport reaches no GPU");
  }

  /** As {@link #sendAll}, from memory of the GPU. */
  default void sendFromGpu(long address, long length) throws IOException {
    throw new UnsupportedOperationException("this transport reaches no GPU");
  }

  /** Returns the memory that the peer shares, null if it shares none. */
  default Region region() {
    return null;
  }

  @Override
  void close();
}
