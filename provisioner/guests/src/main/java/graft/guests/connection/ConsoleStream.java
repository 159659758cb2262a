package graft.guests.connection;

import graft.hypervisors.libvirt.GuestConsole;
import java.io.IOException;

/** A guest's console as bytes. One thread may read while another writes and a third closes it. */
public interface ConsoleStream extends AutoCloseable {
  /**
   * Waits for output and reads it.
   *
   * @return the number of bytes, at least 1; -1 if the console has ended
   */
  int read(byte[] into) throws IOException;

  /** Passes on the first bytes of what was typed. */
  void write(byte[] typed, int count) throws IOException;

  @Override
  void close();

  /** The console that libvirt has opened. */
  static ConsoleStream of(GuestConsole console) {
    return new ConsoleStream() {
      @Override
      public int read(byte[] into) {
        return console.read(into);
      }

      @Override
      public void write(byte[] typed, int count) {
        console.write(typed, count);
      }

      @Override
      public void close() {
        console.close();
      }
    };
  }
}
