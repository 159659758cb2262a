package graft.remoting.server;

import graft.remoting.device.Memory;
import graft.remoting.server.backend.Backend;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.session.RecordHandler;
import graft.remoting.server.session.SessionTerms;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;

/** A device that does simple things, so that sessions can be tested without CUDA. */
public final class EchoBackend implements Backend {
  /** Answers with the record's own bytes after the header. */
  static final int ECHO = 0;

  /** Dies as if by SIGKILL. */
  static final int DIE = 1;

  /** Parameter: u64 length of bulk data; answers with it as bulk data. */
  static final int BULK = 2;

  /** Never comes back. */
  static final int HANG = 3;

  /** Answers with u64 process id, u64 memory limit. */
  static final int WHO = 4;

  @Override
  public String kind() {
    return "echo";
  }

  @Override
  public String open(boolean makesContext) {
    return "echo";
  }

  @Override
  public RecordHandler begin(Channel channel, SessionTerms terms) {
    return new Echo(channel, terms.limits().memory());
  }

  private record Echo(Channel channel, long memoryLimit) implements RecordHandler {
    @Override
    public void execute(long record) throws IOException {
      int size = Memory.getInt(record);
      int function = Memory.getShort(record + 4) & 0xFFFF;
      int slot = Memory.getInt(record + 8);
      long reply = channel.replyBuffer();
      switch (function) {
        case ECHO -> {
          Memory.copy(record + 16, reply + 16, size - 16);
          answer(reply, slot, size);
        }
        case DIE -> Runtime.getRuntime().halt(137);
        case BULK -> bulk(record, slot, reply);
        case HANG -> hang();
        case WHO -> {
          Memory.putLong(reply + 16, ProcessHandle.current().pid());
          Memory.putLong(reply + 24, memoryLimit);
          answer(reply, slot, 32);
        }
        default -> throw new ProtocolException("no function " + function);
      }
    }

    private void answer(long reply, int slot, int size) throws IOException {
      header(reply, slot, size);
      channel.send(reply, size);
    }

    private static void header(long reply, int slot, int size) {
      Memory.putInt(reply, size);
      Memory.putInt(reply + 4, 0);
      Memory.putInt(reply + 8, slot);
      Memory.putInt(reply + 12, 0);
    }

    private void bulk(long record, int slot, long reply) throws IOException {
      long length = Memory.getLong(record + 16);
      try (Scratch data = new Scratch(length)) {
        channel.readBulk(data.address(), length);
        header(reply, slot, 16);
        channel.sendBulk(reply, 16, data.address(), length);
      }
    }

    private static void hang() {
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void addConnection(int connection, Channel added) {
      Thread thread =
          new Thread(
              () -> {
                try (added) {
                  long record;
                  while ((record = added.nextRecord()) != 0) {
                    new Echo(added, connection).execute(record);
                  }
                } catch (IOException e) {
                  throw new java.io.UncheckedIOException(e);
                }
              });
      thread.setDaemon(true);
      thread.start();
    }

    @Override
    public long memory() {
      return 0;
    }
  }
}
