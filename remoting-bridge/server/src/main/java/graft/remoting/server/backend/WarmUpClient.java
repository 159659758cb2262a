package graft.remoting.server.backend;

import graft.remoting.device.Memory;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.transport.Transport;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The client of the {@link WarmUp}, on a thread of its own: sends the records of one line, waits
 * for the reply, and sends the next line.
 */
final class WarmUpClient {
  /**
   * In place of the first parameter of a line's first record: the 8 bytes that the reply before it
   * carried.
   */
  static final long LAST_RESULT = Long.MIN_VALUE;

  /** The most bytes of a line, of a reply, and of what is received at a time. */
  static final int LONGEST = 8192;

  /**
   * One round in this many really uses the GPU, so that the JIT compiler sees both branches of
   * {@link PretendingDevice}.
   */
  private static final int REAL = 16;

  /** After this many rounds the client is silent for so long that the session sleeps. */
  private static final int SILENT = 64;

  private static final long SILENCE_NANOS = 2_000_000;

  /** How often the client looks for a reply before it sleeps. */
  private static final int LOOKS = 2_000;

  /** The kind of a message that data follows. */
  private static final int DATA = 1;

  /** The offset, in such a message, of the number of bytes that follow. */
  private static final int DATA_BYTES = 32;

  private final Transport transport;
  private final BooleanSupplier goOn;
  private final Scratch sending = new Scratch(LONGEST);
  private final Scratch received = new Scratch(2 * LONGEST);
  private int have;
  private long lastResult;
  private volatile boolean pretends;

  /**
   * Creates the client.
   *
   * @param goOn returns false when no further round shall begin
   */
  WarmUpClient(Transport transport, BooleanSupplier goOn) {
    this.transport = transport;
    this.goOn = goOn;
  }

  /** Returns whether the records that arrive are to be pretended. */
  boolean pretends() {
    return pretends;
  }

  /**
   * Sends the lines of {@code opening}, those of {@code round} repeatedly, and those of {@code
   * closing}, and disconnects.
   */
  void run(List<byte[]> opening, int rounds, List<byte[]> round, List<byte[]> closing)
      throws IOException {
    try (sending;
        received;
        transport) {
      say(opening);
      for (int i = 0; i < rounds && goOn.getAsBoolean(); i++) {
        pretends = i % REAL != 0;
        if (i % SILENT == 0) {
          LockSupport.parkNanos(SILENCE_NANOS);
        }
        say(round);
      }
      pretends = false;
      say(closing);
    }
  }

  private void say(List<byte[]> lines) throws IOException {
    for (byte[] line : lines) {
      Memory.write(sending.address(), line, 0, line.length);
      long parameter = sending.address() + Channel.RECORD_HEADER;
      if (Memory.getLong(parameter) == LAST_RESULT) {
        Memory.putLong(parameter, lastResult);
      }
      transport.sendAll(sending.address(), line.length, false);
      awaitReply();
    }
  }

  /** Waits for a reply, and drops the data that arrives before it. */
  private void awaitReply() throws IOException {
    int kind;
    do {
      await(Channel.ANSWER_HEADER);
      int size = Memory.getInt(received.address());
      await(size);
      kind = Memory.getInt(received.address() + 4);
      if (kind == DATA) {
        size += (int) Memory.getLong(received.address() + DATA_BYTES);
        await(size);
      } else if (size >= Channel.ANSWER_HEADER + Long.BYTES) {
        lastResult = Memory.getLong(received.address() + Channel.ANSWER_HEADER);
      }
      have -= size;
      Memory.copy(received.address() + size, received.address(), have);
    } while (kind == DATA);
  }

  private void await(int bytes) throws IOException {
    while (have < bytes) {
      long to = received.address() + have;
      long count = Transport.NOTHING;
      for (int i = 0; i < LOOKS && count == Transport.NOTHING; i++) {
        count = transport.tryReceive(to, LONGEST);
        Thread.onSpinWait();
      }
      if (count == Transport.NOTHING) {
        count = transport.receive(to, LONGEST);
      }
      if (count == Transport.END) {
        throw new IOException("the session of the warm-up has ended");
      }
      have += (int) Math.max(0, count);
    }
  }
}
