package graft.guests.copy;

import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.function.LongConsumer;

/** Streams that tell how many bytes have passed. */
public final class Counted {
  private Counted() {}

  /** A stream that tells the number of bytes that were read, after each piece. */
  public static InputStream input(InputStream from, LongConsumer progress) {
    return new FilterInputStream(from) {
      private long passed;

      @Override
      public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
      }

      @Override
      public int read(byte[] bytes, int offset, int length) throws IOException {
        int count = in.read(bytes, offset, length);
        passed += Math.max(0, count);
        progress.accept(passed);
        return count;
      }
    };
  }

  /** A stream that tells the number of bytes that were written, after each piece. */
  public static OutputStream output(OutputStream to, LongConsumer progress) {
    return new FilterOutputStream(to) {
      private long passed;

      @Override
      public void write(int one) throws IOException {
        write(new byte[] {(byte) one}, 0, 1);
      }

      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        out.write(bytes, offset, length);
        passed += length;
        progress.accept(passed);
      }
    };
  }
}
