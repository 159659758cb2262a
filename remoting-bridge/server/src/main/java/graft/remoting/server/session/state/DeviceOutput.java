package graft.remoting.server.session.state;

import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What kernels print, and what the driver says about one that failed: it writes that to the C
 * library's standard output and error of this process, and it belongs to the client.
 *
 * <p>Standard output becomes a stream in memory: whether the driver has printed is then a look at
 * its length, which costs nothing before each reply. Standard error becomes a pipe, read by a
 * thread of its own and before a reply that says that something failed. This process's own log goes
 * on to where it went.
 */
public final class DeviceOutput {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceOutput.class);
  private static final int KIND = 5;
  private static final int HEAD = Channel.ANSWER_HEADER + 16;
  private static final int CHUNK = 64 << 10;

  /** More at once than a device's buffer gives is nobody's text. */
  private static final int MOST = 64 << 20;

  private static final int STDOUT = 1;
  private static final int STDERR = 2;

  private final long message = Memory.allocate(HEAD + CHUNK + Long.BYTES);
  private final long text = Memory.allocate(2L * Long.BYTES);
  private final long length = text + Long.BYTES;
  private final long printed = Libc.open_memstream(text, length);
  private int errors;
  private volatile Channel channel;

  private DeviceOutput() {}

  /**
   * Takes this process's standard output and error, before the driver is there: it may keep what it
   * finds.
   */
  public static DeviceOutput capture() throws IOException {
    DeviceOutput output = new DeviceOutput();
    if (output.printed == 0) {
      throw Libc.failure("open_memstream");
    }
    System.setErr(new PrintStream(new Log(dup(STDERR)), true, StandardCharsets.UTF_8));
    output.takeErrors();
    NativeLibrary.getInstance("c")
        .getGlobalVariableAddress("stdout")
        .setPointer(0, new Pointer(output.printed));
    // The software device prints from Java.
    System.setOut(new PrintStream(output.new Printed(), false, StandardCharsets.UTF_8));
    return output;
  }

  /** Sends from now on what is printed; what was before is none of the client's. */
  public void sendTo(Channel client) {
    byte[] before = takePrinted();
    System.err.write(before, 0, before.length);
    long count;
    while ((count = Libc.read(errors, message, CHUNK)) > 0) {
      System.err.writeBytes(Scratch.bytesAt(message, (int) count));
    }
    channel = client;
    Thread reader = new Thread(null, this::readErrors, "graft-output", 256 << 10);
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

  private void takeErrors() throws IOException {
    try (Scratch ends = new Scratch(8)) {
      if (Libc.pipe2(ends.address(), Libc.O_CLOEXEC) < 0) {
        throw Libc.failure("pipe2");
      }
      int read = Memory.getInt(ends.address());
      int write = Memory.getInt(ends.address() + 4);
      if (Libc.fcntl(read, Libc.F_SETFL, Libc.O_NONBLOCK) < 0 || Libc.dup2(write, STDERR) < 0) {
        throw Libc.failure("dup2");
      }
      Libc.close(write);
      errors = read;
    }
  }

  private void readErrors() {
    int[] fds = {errors};
    int[] events = {Libc.POLLIN};
    try {
      while (true) {
        NativeSocket.poll(-1, fds, events);
        sendErrors();
      }
    } catch (IOException e) {
      LOG.debug("the client has gone: {}", e.getMessage());
    }
  }

  /** Sends what is there, ahead of a reply with that result. */
  void beforeReply(int result) throws IOException {
    if (Memory.getLongVolatile(length) != 0) {
      sendPrinted();
    }
    if (result != CudaResult.SUCCESS) {
      sendErrors();
    }
  }

  /** Empties the stream in memory. */
  private byte[] takePrinted() {
    Libc.flockfile(printed);
    try {
      Libc.fflush(printed);
      byte[] taken =
          Scratch.bytesAt(Memory.getLong(text), (int) Math.min(Memory.getLong(length), MOST));
      Libc.fseek(printed, 0, Libc.SEEK_SET);
      Libc.fflush(printed);
      return taken;
    } finally {
      Libc.funlockfile(printed);
    }
  }

  private synchronized void sendPrinted() throws IOException {
    byte[] taken = takePrinted();
    for (int at = 0; at < taken.length; at += CHUNK) {
      int count = Math.min(CHUNK, taken.length - at);
      Memory.write(message + HEAD, taken, at, count);
      send(STDOUT, count);
    }
  }

  private synchronized void sendErrors() throws IOException {
    long count;
    while ((count = Libc.read(errors, message + HEAD, CHUNK)) > 0) {
      send(STDERR, (int) count);
    }
  }

  private void send(int stream, int count) throws IOException {
    int size = HEAD + (count + 7 & ~7);
    Call.header(message, size, KIND, 0, CudaResult.SUCCESS);
    Memory.putLong(message + Channel.ANSWER_HEADER, stream);
    Memory.putLong(message + Channel.ANSWER_HEADER + 8, count);
    channel.send(message, size);
  }

  /** The C library's standard output, for Java. */
  private final class Printed extends OutputStream {
    @Override
    public void write(int b) {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int count) {
      try (Scratch copy = new Scratch(Math.max(1, count))) {
        Memory.write(copy.address(), bytes, offset, count);
        Libc.fwrite(copy.address(), 1, count, printed);
      }
    }

    @Override
    public void flush() {
      Libc.fflush(printed);
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
