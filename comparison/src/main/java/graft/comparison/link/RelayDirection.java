package graft.comparison.link;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * One direction of one connection: one thread receives, a second one sends what was received when
 * the link has carried it.
 */
final class RelayDirection {
  private static final int MOST_BYTES = 16 << 10;

  /** With this many parcels under way the link takes no more, as a full window does. */
  private static final int MOST_PARCELS = 4096;

  /** Data on the link; without bytes it is the end of the stream. */
  private static final class Parcel {
    final byte[] bytes;
    final long arrival;

    Parcel(byte[] bytes, long arrival) {
      this.bytes = bytes;
      this.arrival = arrival;
    }
  }

  private final Socket from;
  private final Socket to;
  private final LinkTimes times;
  private final long open;
  private final BlockingQueue<Parcel> parcels = new ArrayBlockingQueue<>(MOST_PARCELS);

  /**
   * A direction that does not carry anything yet.
   *
   * @param open from when on the connection carries data, in the time of {@link System#nanoTime}
   */
  RelayDirection(Socket from, Socket to, LinkTimes times, long open) {
    this.from = from;
    this.to = to;
    this.times = times;
    this.open = open;
  }

  /** Starts both threads. They end with the stream, or when a socket is closed. */
  void start() {
    daemon(this::receive);
    daemon(this::send);
  }

  static void daemon(Runnable task) {
    Thread thread = new Thread(task, "graft-link");
    thread.setDaemon(true);
    thread.start();
  }

  private void receive() {
    try {
      byte[] buffer = new byte[MOST_BYTES];
      InputStream in = from.getInputStream();
      int count;
      do {
        count = Math.max(0, in.read(buffer));
        byte[] bytes = Arrays.copyOf(buffer, count);
        long arrival = times.arrival(System.nanoTime(), open, count);
        parcels.put(new Parcel(bytes, arrival));
        await(times.room(arrival));
      } while (count > 0);
    } catch (IOException e) {
      close(); // an end has gone
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void send() {
    try {
      OutputStream out = to.getOutputStream();
      for (Parcel parcel = parcels.take(); parcel.bytes.length > 0; parcel = parcels.take()) {
        await(parcel.arrival);
        out.write(parcel.bytes);
      }
      to.shutdownOutput();
      if (from.isOutputShutdown()) { // the other direction has ended, too
        close();
      }
    } catch (IOException e) {
      close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void await(long time) {
    for (long left = time - System.nanoTime(); left > 0; left = time - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  /** Ends the connection, so that the threads of both directions end. */
  private void close() {
    parcels.clear();
    parcels.offer(new Parcel(new byte[0], 0));
    Relay.close(from);
    Relay.close(to);
  }
}
