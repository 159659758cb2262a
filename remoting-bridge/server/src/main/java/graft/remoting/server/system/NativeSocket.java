package graft.remoting.server.system;

import com.sun.jna.Native;
import graft.remoting.device.Memory;
import java.io.IOException;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A socket as a plain file descriptor, so that it can be passed to another process. Reads and
 * writes take native addresses. The thread that uses it closes it; {@link #shutdown} wakes that
 * thread from another.
 */
public final class NativeSocket implements AutoCloseable {
  /** What a read answers at the end of the stream. */
  public static final int END = 0;

  /** What a read that does not wait answers when nothing has arrived. */
  public static final int NOTHING = -1;

  private final AtomicInteger fd;
  private final String peer;

  /**
   * Takes over {@code fd}.
   *
   * @param peer who is at the other end, for messages
   */
  public NativeSocket(int fd, String peer) {
    this.fd = new AtomicInteger(fd);
    this.peer = peer;
  }

  public int fd() {
    return fd.get();
  }

  public String peer() {
    return peer;
  }

  /** Whether it is a Unix socket. */
  public boolean isLocal() throws IOException {
    try (Scratch scratch = new Scratch(8)) {
      Memory.putInt(scratch.address() + 4, 4);
      if (Libc.getsockopt(
              fd.get(), Libc.SOL_SOCKET, Libc.SO_DOMAIN, scratch.address(), scratch.address() + 4)
          < 0) {
        throw Libc.failure("ask for the kind of " + peer);
      }
      return Memory.getInt(scratch.address()) == Libc.AF_UNIX;
    }
  }

  /** The context id at the other end of a vsock connection, empty for others. */
  public OptionalLong peerCid() throws IOException {
    try (Scratch scratch = new Scratch(SocketAddress.CAPACITY + 8)) {
      long memory = scratch.address();
      Memory.putInt(memory + SocketAddress.CAPACITY, SocketAddress.CAPACITY);
      if (Libc.getpeername(fd.get(), memory, memory + SocketAddress.CAPACITY) < 0) {
        throw Libc.failure("ask who is at " + peer);
      }
      return SocketAddress.cid(memory);
    }
  }

  /**
   * Where the connection comes from, as far as limits are shared: a host's IPv4 address, the /64
   * network of an IPv6 address, a virtual machine's context id, or this machine for a Unix socket.
   */
  public String source() throws IOException {
    try (Scratch scratch = new Scratch(SocketAddress.CAPACITY + 8)) {
      long memory = scratch.address();
      Memory.putInt(memory + SocketAddress.CAPACITY, SocketAddress.CAPACITY);
      if (Libc.getpeername(fd.get(), memory, memory + SocketAddress.CAPACITY) < 0) {
        throw Libc.failure("ask who is at " + peer);
      }
      return SocketAddress.source(memory);
    }
  }

  /** Gives the descriptor away: this object closes nothing any more. */
  int release() {
    return fd.getAndSet(-1);
  }

  /** Up to {@code length} bytes, {@link #END} or {@link #NOTHING}. Never waits. */
  public long tryReceive(long address, long length) throws IOException {
    return receive(address, length, Libc.MSG_DONTWAIT);
  }

  /** Up to {@code length} bytes, at least one unless the answer is {@link #END}. Waits. */
  public long receive(long address, long length) throws IOException {
    return receive(address, length, 0);
  }

  private long receive(long address, long length, int flags) throws IOException {
    while (true) {
      long count = Libc.recv(fd.get(), address, length, flags);
      if (count >= 0) {
        return count;
      }
      int errno = Native.getLastError();
      if (errno == Libc.EAGAIN) {
        return NOTHING;
      }
      if (errno == Libc.ECONNRESET) {
        return END;
      }
      if (errno != Libc.EINTR) {
        throw Libc.failure("read from " + peer);
      }
    }
  }

  /**
   * Up to {@code length} bytes before {@code deadline} (nanoTime), {@link #END} or, when time is
   * out, {@link #NOTHING}.
   */
  public long receiveSome(long address, long length, long deadline) throws IOException {
    long count;
    while ((count = tryReceive(address, length)) == NOTHING) {
      if (!await(Libc.POLLIN, deadline)) {
        return NOTHING;
      }
    }
    return count;
  }

  /**
   * Fills {@code length} bytes before {@code deadline} (nanoTime); false when the stream ends or
   * time is out.
   */
  public boolean receiveAll(long address, int length, long deadline) throws IOException {
    int done = 0;
    while (done < length) {
      long count = tryReceive(address + done, length - done);
      if (count == END) {
        return false;
      }
      if (count > 0) {
        done += (int) count;
      } else if (!await(Libc.POLLIN, deadline)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Sends all of it, and waits as long as the peer does not read.
   *
   * @param more whether more data follows at once, so that the two may travel together
   */
  public void sendAll(long address, long length, boolean more) throws IOException {
    int flags = more ? Libc.MSG_MORE : 0;
    long done = 0;
    while (done < length) {
      long count = Libc.send(fd.get(), address + done, length - done, flags | Libc.MSG_NOSIGNAL);
      if (count >= 0) {
        done += count;
      } else if (Native.getLastError() != Libc.EINTR) {
        throw Libc.failure("send to " + peer);
      }
    }
  }

  /** Sends all of a message. */
  public void sendAll(byte[] message) throws IOException {
    try (Scratch scratch = Scratch.of(message)) {
      sendAll(scratch.address(), message.length, false);
    }
  }

  /** Whether the peer has gone, or will send nothing more. */
  public boolean isGone() throws IOException {
    return poll(Libc.POLLRDHUP, 0) != 0;
  }

  /**
   * Sends all of it before {@code deadline} (nanoTime); false when the peer does not take it in
   * time.
   */
  public boolean sendAll(long address, int length, long deadline) throws IOException {
    int done = 0;
    while (done < length) {
      long count =
          Libc.send(fd.get(), address + done, length - done, Libc.MSG_NOSIGNAL | Libc.MSG_DONTWAIT);
      if (count >= 0) {
        done += (int) count;
      } else if (Native.getLastError() == Libc.EAGAIN) {
        if (!await(Libc.POLLOUT, deadline)) {
          return false;
        }
      } else if (Native.getLastError() != Libc.EINTR) {
        throw Libc.failure("send to " + peer);
      }
    }
    return true;
  }

  /** Sends what the peer takes at once, and drops the rest. */
  public void trySend(long address, long length) throws IOException {
    if (Libc.send(fd.get(), address, length, Libc.MSG_NOSIGNAL | Libc.MSG_DONTWAIT) < 0
        && Native.getLastError() != Libc.EAGAIN
        && Native.getLastError() != Libc.EINTR) {
      throw Libc.failure("send to " + peer);
    }
  }

  private boolean await(int events, long deadline) throws IOException {
    long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
    return left > 0 && poll(events, (int) Math.min(left, Integer.MAX_VALUE)) != 0;
  }

  /**
   * The events of {@code events} (and error, hang-up) that hold now or within the time; 0 when none
   * does.
   */
  public int poll(int events, int timeoutMillis) throws IOException {
    return poll(timeoutMillis, new int[] {fd.get()}, new int[] {events})[0];
  }

  /**
   * Waits for any of {@code events[i]} on any {@code fds[i]}; the events that hold, by descriptor.
   * Negative descriptors are passed over.
   *
   * @param timeoutMillis how long, -1 for ever
   */
  public static int[] poll(int timeoutMillis, int[] fds, int[] events) throws IOException {
    try (Scratch scratch = new Scratch(8L * fds.length)) {
      long memory = scratch.address();
      for (int i = 0; i < fds.length; i++) {
        Memory.putInt(memory + 8L * i, fds[i]);
        Memory.putShort(memory + 8L * i + 4, (short) events[i]);
      }
      int count = Libc.poll(memory, fds.length, timeoutMillis);
      if (count < 0 && Native.getLastError() != Libc.EINTR) {
        throw Libc.failure("poll");
      }
      int[] answers = new int[fds.length];
      for (int i = 0; count > 0 && i < fds.length; i++) {
        answers[i] = Memory.getShort(memory + 8L * i + 6) & 0xFFFF;
      }
      return answers;
    }
  }

  /** The process id at the other end of a Unix socket. */
  public int peerProcess() throws IOException {
    try (Scratch scratch = new Scratch(16)) {
      long memory = scratch.address();
      Memory.putInt(memory + 12, 12);
      if (Libc.getsockopt(fd.get(), Libc.SOL_SOCKET, Libc.SO_PEERCRED, memory, memory + 12) < 0) {
        throw Libc.failure("ask who is at " + peer);
      }
      return Memory.getInt(memory);
    }
  }

  /** Sets an option with an int value. */
  void option(int level, int option, int value) throws IOException {
    try (Scratch scratch = new Scratch(4)) {
      long memory = scratch.address();
      Memory.putInt(memory, value);
      if (Libc.setsockopt(fd.get(), level, option, memory, 4) < 0) {
        throw Libc.failure("set option " + option + " on " + peer);
      }
    }
  }

  /** Ends our half of the connection; harmless on one that has ended. */
  public void shutdownOutput() {
    Libc.shutdown(fd.get(), Libc.SHUT_WR);
  }

  /** Ends the connection for both ends but keeps the descriptor. Harmless on one that has ended. */
  public void shutdown() {
    int descriptor = fd.get();
    if (descriptor >= 0) {
      Libc.shutdown(descriptor, Libc.SHUT_RDWR);
    }
  }

  @Override
  public void close() {
    int descriptor = fd.getAndSet(-1);
    if (descriptor >= 0) {
      Libc.close(descriptor);
    }
  }
}
