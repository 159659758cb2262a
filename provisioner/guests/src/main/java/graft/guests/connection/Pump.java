package graft.guests.connection;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** Passes bytes on between a program and its caller, in a thread of its own. */
final class Pump {
  private final InputStream from;
  private final OutputStream to;
  private final Closeable programs;
  private final Runnable unwritable;
  private final Thread thread = new Thread(this::run, "graft-container-pump");
  private volatile IOException reading;
  private volatile IOException writing;

  /**
   * A pump that does not run yet.
   *
   * @param programs the end that is the program's, which is closed at the end
   * @param unwritable what to do if the bytes cannot be written
   */
  Pump(InputStream from, OutputStream to, Closeable programs, Runnable unwritable) {
    this.from = from;
    this.to = to;
    this.programs = programs;
    this.unwritable = unwritable;
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  private void run() {
    try {
      byte[] buffer = new byte[1 << 16];
      for (int count = read(buffer); count >= 0; count = read(buffer)) {
        if (!write(buffer, count)) {
          unwritable.run();
          return;
        }
      }
    } finally {
      close(programs);
    }
  }

  private int read(byte[] buffer) {
    try {
      return from.read(buffer);
    } catch (IOException e) {
      reading = e;
      return -1;
    }
  }

  private boolean write(byte[] buffer, int count) {
    try {
      to.write(buffer, 0, count);
      to.flush();
      return true;
    } catch (IOException e) {
      writing = e;
      return false;
    }
  }

  void join(long millis) throws InterruptedException {
    thread.join(millis);
  }

  boolean isAlive() {
    return thread.isAlive();
  }

  /**
   * Whether all could be read until now.
   *
   * @throws IOException why it could not
   */
  void checkReading() throws IOException {
    check(reading);
  }

  /**
   * Whether all could be written until now.
   *
   * @throws IOException why it could not
   */
  void checkWriting() throws IOException {
    check(writing);
  }

  private static void check(IOException failure) throws IOException {
    if (failure != null) {
      throw new IOException(failure.getMessage(), failure);
    }
  }

  static void close(Closeable stream) {
    try {
      stream.close();
    } catch (IOException e) {
      // The program has ended.
    }
  }
}
