package graft.remoting.server;

import com.sun.jna.NativeLibrary;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What kernels print, and what the driver says about one that failed: it writes that to this
 * process's standard output and error, and it belongs to the client. Both become pipes here, read
 * by a thread of their own, so that the driver never waits for us for long, and once more before a
 * reply, so that the client has it when it has waited. This process's own log goes on to where it
 * went.
 */
final class DeviceOutput {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceOutput.class);
  private static final int KIND = 5;
  private static final int HEAD = Channel.ANSWER_HEADER + 16;
  private static final int PIECE = 64 << 10;
  private static final int STDOUT = 1;
  private static final int STDERR = 2;

  private volatile Channel channel;
  private final int[] pipes = new int[3];
  private final long message = Memory.allocate(HEAD + PIECE + Long.BYTES);

  private final long stdout =
      NativeLibrary.getInstance("c")
          .getGlobalVariableAddress("stdout")
          .getNativeLong(0)
          .longValue();

  private DeviceOutput() {}

  /**
   * Takes this process's standard output and error, before the driver is there: it may keep the
   * descriptors that it finds.
   */
  static DeviceOutput capture() throws IOException {
    DeviceOutput output = new DeviceOutput();
    System.setErr(new PrintStream(new Log(dup(STDERR)), true, StandardCharsets.UTF_8));
    output.take(STDOUT);
    output.take(STDERR);
    // The driver prints through the C library, which would keep text for a pipe back.
    Libc.setvbuf(output.stdout, 0, Libc.IONBF, 0);
    return output;
  }

  /** Sends from now on what is printed; what was before is none of the client's. */
  void sendTo(Channel client) {
    for (int fd : new int[] {STDOUT, STDERR}) {
      long count;
      while ((count = Libc.read(pipes[fd], message, PIECE)) > 0) {
        System.err.writeBytes(Scratch.bytesAt(message, (int) count));
      }
    }
    channel = client;
    Thread reader = new Thread(null, this::read, "graft-output", 256 << 10);
    reader.setDaemon(true);
    reader.start();
  }

  private static int dup(int fd) throws IOException {
    int copy = Libc.fcntl(fd, Libc.F_DUPFD_CLOEXEC, 0);
    if (copy < 0) {
      throw Libc.failure("dup");
    }
    return copy;
  }

  private void take(int fd) throws IOException {
    try (Scratch ends = new Scratch(8)) {
      if (Libc.pipe2(ends.address(), Libc.O_CLOEXEC) < 0) {
        throw Libc.failure("pipe2");
      }
      int read = Memory.getInt(ends.address());
      int write = Memory.getInt(ends.address() + 4);
      if (Libc.fcntl(read, Libc.F_SETFL, Libc.O_NONBLOCK) < 0 || Libc.dup2(write, fd) < 0) {
        throw Libc.failure("dup2");
      }
      Libc.close(write);
      pipes[fd] = read;
    }
  }

  private void read() {
    int[] fds = {pipes[STDOUT], pipes[STDERR]};
    int[] events = {Libc.POLLIN, Libc.POLLIN};
    try {
      while (true) {
        NativeSocket.poll(-1, fds, events);
        drain(STDOUT);
        drain(STDERR);
      }
    } catch (IOException e) {
      LOG.debug("the client has gone: {}", e.getMessage());
    }
  }

  /** Sends what is there, ahead of a reply with that result. */
  void beforeReply(int result) throws IOException {
    Libc.fflush(stdout);
    drain(STDOUT);
    if (result != CudaResult.SUCCESS) {
      drain(STDERR);
    }
  }

  private synchronized void drain(int fd) throws IOException {
    long count;
    while ((count = Libc.read(pipes[fd], message + HEAD, PIECE)) > 0) {
      int size = (int) (HEAD + (count + 7 & ~7L));
      Call.header(message, size, KIND, 0, CudaResult.SUCCESS);
      Memory.putLong(message + Channel.ANSWER_HEADER, fd);
      Memory.putLong(message + Channel.ANSWER_HEADER + 8, count);
      channel.send(message, size);
    }
  }

  /** This process's log, at the descriptor that was its standard error. */
  private static final class Log extends OutputStream {
    private final int fd;

    Log(int fd) {
      this.fd = fd;
    }

    @Override
    public void write(int b) {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
      try (Scratch text = new Scratch(Math.max(1, length))) {
        Memory.write(text.address(), bytes, offset, length);
        for (long done = 0; done < length; ) {
          long count = Libc.write(fd, text.address() + done, length - done);
          if (count <= 0) {
            return; // Nowhere left to say it.
          }
          done += count;
        }
      }
    }
  }
}
