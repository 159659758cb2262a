package graft.remoting.server.backend;

import graft.remoting.device.Memory;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.transport.Region;
import graft.remoting.server.transport.Transport;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * The client's side of the {@link WarmUp}: sends the records of one element, waits for the reply,
 * and sends the next.
 */
final class WarmUpScript implements Transport {
  /**
   * In place of the first parameter of a line's first record: the 8 bytes that the reply before it
   * carried.
   */
  static final long LAST_RESULT = Long.MIN_VALUE;

  /**
   * One round in this many really uses the GPU, so that the JIT compiler sees both branches of
   * {@link PretendingDevice}.
   */
  private static final int REAL = 16;

  private final PretendingDevice device;
  private final Region region;
  private final int rounds;
  private final List<byte[]> opening;
  private final List<byte[]> round;
  private final List<byte[]> closing;
  private final BooleanSupplier goOn;
  private final AtomicInteger replies = new AtomicInteger();
  private int said;
  private long lastResult;

  /**
   * Creates the client's side.
   *
   * @param region the memory that the session shares with this client
   * @param rounds how often the lines of {@code round} are sent
   * @param goOn returns false when no further round shall begin
   */
  WarmUpScript(
      PretendingDevice device,
      Region region,
      int rounds,
      List<byte[]> opening,
      List<byte[]> round,
      List<byte[]> closing,
      BooleanSupplier goOn) {
    this.device = device;
    this.region = region;
    this.rounds = rounds;
    this.opening = opening;
    this.round = round;
    this.closing = closing;
    this.goOn = goOn;
  }

  /** Returns the element of that number, null after the last. */
  private byte[] line(int number) {
    int inRounds = number - opening.size();
    int afterRounds = inRounds - rounds * round.size();
    if (inRounds < 0) {
      return opening.get(number);
    }
    if (afterRounds < 0) {
      return round.get(inRounds % round.size());
    }
    return afterRounds < closing.size() ? closing.get(afterRounds) : null;
  }

  @Override
  public long tryReceive(long address, long length) {
    if (replies.get() < said) {
      return NOTHING;
    }
    int firstOfClosing = opening.size() + rounds * round.size();
    int inRounds = said - opening.size();
    boolean roundBegins = inRounds >= 0 && said < firstOfClosing && inRounds % round.size() == 0;
    if (roundBegins) {
      device.pretend(inRounds / round.size() % REAL != 0);
    } else if (inRounds < 0 || said >= firstOfClosing) {
      device.pretend(false);
    }
    if (roundBegins && !goOn.getAsBoolean()) {
      device.pretend(false);
      said = firstOfClosing;
      replies.set(said);
    }
    byte[] line = line(said);
    if (line == null) {
      return END;
    }
    said++;
    Memory.write(address, line, 0, line.length);
    long parameter = address + Channel.RECORD_HEADER;
    if (Memory.getLong(parameter) == LAST_RESULT) {
      Memory.putLong(parameter, lastResult);
    }
    return line.length;
  }

  @Override
  public long receive(long address, long length) {
    long count;
    while ((count = tryReceive(address, length)) == NOTHING) {
      Thread.onSpinWait();
    }
    return count;
  }

  @Override
  public void sendAll(long address, long length, boolean more) {
    boolean reply =
        length >= Channel.ANSWER_HEADER
            && Memory.getInt(address) == length
            && Memory.getInt(address + 4) == 0
            && !more;
    if (reply) {
      if (length >= Channel.ANSWER_HEADER + Long.BYTES) {
        lastResult = Memory.getLong(address + Channel.ANSWER_HEADER);
      }
      replies.incrementAndGet();
    }
  }

  @Override
  public Region region() {
    return region;
  }

  @Override
  public void close() {
    // Nothing to close.
  }
}
