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
 * The output of kernels' printf and the driver's messages about failed kernels. The driver writes
 * both to the standard output and error of this process, and both belong to the client.
 *
 * <p>The C library's standard output is replaced with a stream in memory, so that the check before
 * each reply whether the driver has printed costs only a comparison of lengths. Standard error is
 * replaced with a pipe. A thread reads the pipe, and so does every reply that reports an error
 * before it is sent. This process' own log still goes to the original standard error.
 */
public final class DeviceOutput {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceOutput.class);
  private static final int KIND = 5;
  private static final int HEAD = Channel.ANSWER_HEADER + 16;
  private static final int CHUNK = 64 << 10;

  /**
   * More text at once than a device's printf buffer can hold is not printed by kernels and is
   * dropped.
   */
  private static final int MOST = 64 << 20;

  /** More text than this is not kept: it is sent without waiting for a reply. */
  private static final int KEPT = 1 << 20;

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
   * Redirects standard output and error of this process. This must happen before the driver is
   * loaded, because the driver may keep the descriptors that it finds.
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

  /** Sends what is printed from now on to the client, and drops what was printed before. */
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
      LOG.debug("the client has disconnected: {}", e.getMessage());
    }
  }

  /** Sends what has been printed, before a reply with that result is sent. */
  void beforeReply(int result) throws IOException {
    if (Memory.getLongVolatile(length) != 0) {
      sendPrinted();
    }
    if (result != CudaResult.SUCCESS) {
      sendErrors();
    }
  }

  /**
   * Sends what was printed if it is much. The call waits for a client that does not receive, which
   * makes kernels that print without end wait as well.
   */
  void limit() {
    if (Memory.getLongVolatile(length) <= KEPT || channel == null) {
      return;
    }
    try {
      sendPrinted();
    } catch (IOException e) {
      LOG.debug("the client has disconnected: {}", e.getMessage());
    }
  }

  /** Sends a last message to the client's standard error. */
  public void sendLast(String line) throws IOException {
    byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
    sendLast(bytes, Math.min(CHUNK, bytes.length));
  }

  private synchronized void sendLast(byte[] bytes, int count) throws IOException {
    Memory.write(message + HEAD, bytes, 0, count);
    send(STDERR, count);
  }

  /** Returns the contents of the stream in memory and empties it. */
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

  /** Writes Java's standard output to the C library's. */
  private final class Printed extends OutputStream {
    /** The bytes that were printed since the length was last compared with the limit. */
    private long unflushed;

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
      unflushed += count;
      if (unflushed > KEPT) {
        unflushed = 0;
        flush();
        limit();
      }
    }

    @Override
    public void flush() {
      Libc.fflush(printed);
    }
  }

  /** Writes this process' log to the descriptor that was its standard error. */
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
            return; // the log itself cannot be written, and there is no other place for a message
          }
          done += count;
        }
      }
    }
  }
}
