package graft.guests.connection;

import graft.common.GraftException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.BooleanSupplier;

/**
 * The console of a container whose output a program of Graft's keeps in a file. That program reads
 * the terminal, and a second reader would get a part of the output and take it from the file: so
 * what is typed goes to the terminal, and what is shown comes from the file.
 */
public final class ContainerTerminal implements ConsoleStream {
  private static final int PAUSE_MILLIS = 20;

  /** How many pauses pass between two looks at the container. */
  private static final int PAUSES = 25;

  private final BooleanSupplier runs;
  private final FileChannel holder;
  private final OutputStream terminal;
  private final RandomAccessFile shown;
  private volatile boolean closed;

  private ContainerTerminal(
      BooleanSupplier runs, FileChannel holder, OutputStream terminal, RandomAccessFile shown) {
    this.runs = runs;
    this.holder = holder;
    this.terminal = terminal;
    this.shown = shown;
  }

  /**
   * Opens the console.
   *
   * @param terminal the container's terminal on the host
   * @param log the file with what it prints
   * @param runs whether the container still runs
   * @param force whether to open it although somebody else has it open, who then keeps it too
   * @throws GraftException if somebody else has it open
   */
  public static ContainerTerminal open(Path terminal, Path log, BooleanSupplier runs, boolean force)
      throws IOException {
    FileChannel holder = FileChannel.open(terminal, StandardOpenOption.WRITE);
    try {
      if (!force && !isFree(holder)) {
        throw ConsoleSession.taken();
      }
      RandomAccessFile shown = new RandomAccessFile(log.toFile(), "r");
      shown.seek(shown.length());
      return new ContainerTerminal(runs, holder, new FileOutputStream(terminal.toFile()), shown);
    } catch (IOException | GraftException e) {
      holder.close();
      throw e;
    }
  }

  private static boolean isFree(FileChannel terminal) throws IOException {
    try {
      return terminal.tryLock() != null;
    } catch (OverlappingFileLockException e) {
      return false; // of this process
    }
  }

  @Override
  public int read(byte[] into) throws IOException {
    for (int pauses = 1; !closed; pauses++) {
      int count = shown.read(into);
      if (count > 0) {
        return count;
      }
      if (pauses % PAUSES == 0 && !runs.getAsBoolean()) {
        return Math.max(shown.read(into), -1);
      }
      try {
        Thread.sleep(PAUSE_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return -1;
      }
    }
    return -1;
  }

  @Override
  public void write(byte[] typed, int count) throws IOException {
    terminal.write(typed, 0, count);
  }

  @Override
  public void close() {
    closed = true;
    Pump.close(holder);
    Pump.close(terminal);
  }
}
