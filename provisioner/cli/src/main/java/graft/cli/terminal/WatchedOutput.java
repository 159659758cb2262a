package graft.cli.terminal;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;

/**
 * A stream that remembers that it could not be written: the writers over it do not say so, and a
 * command whose output is lost has not done what it was asked for.
 */
public final class WatchedOutput extends FilterOutputStream {
  private IOException failure;

  public WatchedOutput(OutputStream out) {
    super(out);
  }

  /** Why not everything was written; empty as long as it was. */
  public synchronized Optional<IOException> failure() {
    return Optional.ofNullable(failure);
  }

  @Override
  public void write(int one) throws IOException {
    write(new byte[] {(byte) one}, 0, 1);
  }

  @Override
  public synchronized void write(byte[] bytes, int offset, int length) throws IOException {
    try {
      out.write(bytes, offset, length);
    } catch (IOException e) {
      failure = failure == null ? e : failure;
      throw e;
    }
  }

  @Override
  public synchronized void flush() throws IOException {
    try {
      out.flush();
    } catch (IOException e) {
      failure = failure == null ? e : failure;
      throw e;
    }
  }
}
