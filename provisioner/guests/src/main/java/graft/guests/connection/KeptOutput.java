package graft.guests.connection;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** Keeps the beginning of the output of a program in a guest, which may have no end. */
public final class KeptOutput extends ByteArrayOutputStream {
  /** The maximum number of bytes: as many as the QEMU guest agent keeps of a stream. */
  static final int MOST = 16 * 1024 * 1024;

  private final OutputStream also;
  private boolean truncated;

  public KeptOutput() {
    this(OutputStream.nullOutputStream());
  }

  /**
   * Passes on the output too.
   *
   * @param also where all of it goes
   */
  KeptOutput(OutputStream also) {
    this.also = also;
  }

  /** Whether the program wrote more than is kept. */
  public synchronized boolean isTruncated() {
    return truncated;
  }

  @Override
  public synchronized void write(int one) {
    write(new byte[] {(byte) one}, 0, 1);
  }

  @Override
  public synchronized void write(byte[] bytes, int offset, int length) {
    int kept = Math.min(length, MOST - count);
    truncated |= kept < length;
    super.write(bytes, offset, kept);
    try {
      also.write(bytes, offset, length);
      also.flush();
    } catch (IOException e) {
      // Whoever reads the output has gone; the program goes on.
    }
  }
}
