package graft.remoting.server.transport;

import graft.remoting.server.connection.StreamChannel;
import graft.remoting.server.device.GpuDirect;
import graft.remoting.server.system.NativeSocket;
import java.io.IOException;

/**
 * What carries a session's bytes both ways, under {@link StreamChannel}: a socket, or rings in
 * shared memory.
 */
public interface Transport extends AutoCloseable {
  /** A read's answer at the end of the stream. */
  int END = NativeSocket.END;

  /** A read's answer when nothing is there yet. */
  int NOTHING = NativeSocket.NOTHING;

  /** Up to {@code length} bytes, {@link #END} or {@link #NOTHING}. Never waits. */
  long tryReceive(long address, long length) throws IOException;

  /** How often to look before a look at the clock is worth its cost. */
  default int looksAtOnce() {
    return 1;
  }

  /** Up to {@code length} bytes, at least one unless it is {@link #END}. Waits. */
  long receive(long address, long length) throws IOException;

  /**
   * Sends all of it, waiting as long as the peer does not read. One thread at a time.
   *
   * @param more whether more follows at once, so that the two may travel together
   */
  void sendAll(long address, long length, boolean more) throws IOException;

  /**
   * Receives all of it, or only begins to, where several may be on their way: it is there when
   * {@link #hasReceived} says so of the mark that this gives. The thread that receives calls this.
   */
  default long beginReceive(long address, long length) throws IOException {
    for (long done = 0; done < length; ) {
      long count = receive(address + done, length - done);
      if (count == END) {
        throw new IOException("the client closed a connection within bulk data");
      }
      done += Math.max(0, count);
    }
    return 0;
  }

  /** Whether there may be several. */
  default boolean receivesSeveral() {
    return false;
  }

  /** Whether what was begun up to that mark is there. */
  default boolean hasReceived(long mark) {
    return true;
  }

  /** Goes on with what was begun; waits until more of it is over or there is more to receive. */
  default void progress() throws IOException {}

  /**
   * As {@link #beginReceive}, to memory of the GPU, where {@link GpuDirect} says that this can be.
   */
  default long beginReceiveToGpu(long address, long length) throws IOException {
    throw new UnsupportedOperationException("this transport reaches no GPU");
  }

  /** As {@link #sendAll}, from memory of the GPU. */
  default void sendFromGpu(long address, long length) throws IOException {
    throw new UnsupportedOperationException("this transport reaches no GPU");
  }

  /** The memory that the peer shares, null if it has none. */
  default Region region() {
    return null;
  }

  @Override
  void close();
}
