package graft.deployment.hosts;

import java.io.ByteArrayOutputStream;
import java.time.Clock;
import java.time.Instant;

/** Keeps the beginning of what a host prints, which may have no end, and the time of its start. */
final class ReplyOutput extends ByteArrayOutputStream {
  private final int most;
  private final Clock clock;
  private Instant first = Instant.EPOCH;
  private boolean truncated;

  ReplyOutput(int most, Clock clock) {
    this.most = most;
    this.clock = clock;
  }

  @Override
  public synchronized void write(int one) {
    write(new byte[] {(byte) one}, 0, 1);
  }

  @Override
  public synchronized void write(byte[] bytes, int offset, int length) {
    if (count == 0 && length > 0) {
      first = clock.instant();
    }
    int kept = Math.min(length, most - count);
    truncated |= kept < length;
    super.write(bytes, offset, kept);
  }

  /** When the first byte came. */
  synchronized Instant first() {
    return first;
  }

  /** Whether the host printed more than is kept. */
  synchronized boolean isTruncated() {
    return truncated;
  }
}
