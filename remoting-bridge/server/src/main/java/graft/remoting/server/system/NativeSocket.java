package graft.remoting.server.system;

import com.sun.jna.Native;
import graft.remoting.device.Memory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongFunction;

/**
 * A socket as a plain file descriptor, so that it can be passed to another process. A subclass may
 * encrypt what is sent and received. Reads and writes use native addresses. The thread that uses
 * the socket closes it; {@link #shutdown} wakes that thread from another.
 */
public class NativeSocket implements AutoCloseable {
  /** Returned by a read at the end of the stream. */
  public static final int END = 0;

  /** Returned by a read that does not wait when no data has arrived. */
  public static final int NOTHING = -1;

  private final AtomicInteger fd;
  private final String peer;

  /**
   * Takes over {@code fd}.
   *
   * @param peer the peer's description, for messages
   */
  public NativeSocket(int fd, String peer) {
    this.fd = new AtomicInteger(fd);
    this.peer = peer;
  }

  /**
   * Creates two Unix packet sockets that are connected to each other.
   *
   * @param peer the description of the first one's peer
   */
  public static List<NativeSocket> pair(String peer) throws IOException {
    return pair(Libc.SOCK_SEQPACKET, peer);
  }

  /**
   * Creates two Unix stream sockets that are connected to each other.
   *
   * @param peer the description of the first one's peer
   */
  public static List<NativeSocket> streamPair(String peer) throws IOException {
    return pair(Libc.SOCK_STREAM, peer);
  }

  private static List<NativeSocket> pair(int type, String peer) throws IOException {
    try (Scratch ends = new Scratch(2 * Integer.BYTES)) {
      if (Libc.socketpair(Libc.AF_UNIX, type | Libc.SOCK_CLOEXEC, 0, ends.address()) < 0) {
        throw Libc.failure("create a pair of sockets");
      }
      return List.of(
          new NativeSocket(Memory.getInt(ends.address()), peer),
          new NativeSocket(Memory.getInt(ends.address() + Integer.BYTES), "this process"));
    }
  }

  /**
   * Connects to a Unix packet socket.
   *
   * @param peer the peer's description
   */
  public static NativeSocket connectPackets(Path path, String peer) throws IOException {
    return connect(Libc.SOCK_SEQPACKET, path, peer);
  }

  /**
   * Connects to a Unix stream socket.
   *
   * @param peer the peer's description
   */
  public static NativeSocket connectStream(Path path, String peer) throws IOException {
    return connect(Libc.SOCK_STREAM, path, peer);
  }

  private static NativeSocket connect(int type, Path path, String peer) throws IOException {
    int fd = Libc.socket(Libc.AF_UNIX, type | Libc.SOCK_CLOEXEC, 0);
    if (fd < 0) {
      throw Libc.failure("create a socket");
    }
    try (Scratch scratch = new Scratch(SocketAddress.CAPACITY)) {
      long memory = scratch.address();
      if (Libc.connect(fd, memory, SocketAddress.write(memory, path)) < 0) {
        SystemCallException failure = Libc.failure("connect to " + peer + " at " + path);
        Libc.close(fd);
        throw failure;
      }
      return new NativeSocket(fd, peer);
    }
  }

  public int fd() {
    return fd.get();
  }

  public String peer() {
    return peer;
  }

  /** Returns whether this is a Unix socket. */
  public boolean isLocal() throws IOException {
    try (Scratch scratch = new Scratch(8)) {
      Memory.putInt(scratch.address() + 4, 4);
      if (Libc.getsockopt(
              fd.get(), Libc.SOL_SOCKET, Libc.SO_DOMAIN, scratch.address(), scratch.address() + 4)
          < 0) {
        throw Libc.failure("get the kind of " + peer);
      }
      return Memory.getInt(scratch.address()) == Libc.AF_UNIX;
    }
  }

  /** Returns the peer's context id if this is a vsock connection. */
  public OptionalLong peerCid() throws IOException {
    return ofPeer(SocketAddress::cid);
  }

  /**
   * Where the connection comes from, as far as limits are shared: a host's IPv4 address, the /64
   * network of an IPv6 address, a virtual machine's context id, or this machine for a Unix socket.
   */
  public String source() throws IOException {
    return ofPeer(SocketAddress::source);
  }

  /**
   * Returns whether what is sent can leave this machine: over TCP to another address than the
   * loopback interface's. The kernel drops packets from a network that claim such an address.
   */
  public boolean leavesMachine() throws IOException {
    return ofPeer(SocketAddress::leavesMachine);
  }

  /** Applies a function to the kernel's form of the peer's address. */
  private <T> T ofPeer(LongFunction<T> function) throws IOException {
    try (Scratch scratch = new Scratch(SocketAddress.CAPACITY + 8)) {
      long memory = scratch.address();
      Memory.putInt(memory + SocketAddress.CAPACITY, SocketAddress.CAPACITY);
      if (Libc.getpeername(fd.get(), memory, memory + SocketAddress.CAPACITY) < 0) {
        throw Libc.failure("ask who is at " + peer);
      }
      return function.apply(memory);
    }
  }

  /** Releases the descriptor, so that this object no longer closes it. */
  int release() {
    return fd.getAndSet(-1);
  }

  /**
   * Receives up to {@code length} bytes without waiting. Returns their number, {@link #END} or
   * {@link #NOTHING}.
   */
  public long tryReceive(long address, long length) throws IOException {
    return receive(address, length, Libc.MSG_DONTWAIT);
  }

  /**
   * Waits and receives up to {@code length} bytes. Returns their number, which is at least 1, or
   * {@link #END}.
   */
  public long receive(long address, long length) throws IOException {
    return receive(address, length, 0);
  }

  private long receive(long address, long length, int flags) throws IOException {
    while (true) {
      long count = receiveOnce(address, length, flags);
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

  /** As recv(2), with 0 or MSG_DONTWAIT. */
  protected long receiveOnce(long address, long length, int flags) {
    return Libc.recv(fd.get(), address, length, flags);
  }

  /**
   * Receives up to {@code length} bytes before {@code deadline} (nanoTime). Returns their number,
   * {@link #END}, or {@link #NOTHING} after the deadline.
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
   * Receives exactly {@code length} bytes before {@code deadline} (nanoTime). Returns false if the
   * stream ends or the deadline passes.
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
   * Sends all bytes, waiting while the peer does not read.
   *
   * @param more whether more data follows immediately, so that both may be sent together
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

  /** Sends a whole message. */
  public void sendAll(byte[] message) throws IOException {
    try (Scratch scratch = Scratch.of(message)) {
      sendAll(scratch.address(), message.length, false);
    }
  }

  /** Returns whether the peer has disconnected or will send nothing more. */
  public boolean isGone() throws IOException {
    return poll(Libc.POLLRDHUP, 0) != 0;
  }

  /**
   * Sends all bytes before {@code deadline} (nanoTime). Returns false if the peer does not read
   * them in time.
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

  /** Sends as much as possible without waiting, and drops the rest. */
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
   * Waits for {@code events} (and errors and hang-ups). Returns the events that occurred, 0 after
   * the timeout.
   */
  public int poll(int events, int timeoutMillis) throws IOException {
    return poll(timeoutMillis, new int[] {fd.get()}, new int[] {events})[0];
  }

  /**
   * Waits for any of {@code events[i]} on any {@code fds[i]}, and returns the events that occurred,
   * by descriptor. Negative descriptors are ignored.
   *
   * @param timeoutMillis the timeout, -1 for none
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

  /** Returns the process id of the peer of a Unix socket. */
  public int peerProcess() throws IOException {
    return credential(0);
  }

  /** Returns the number of the user that the peer of a Unix socket runs as. */
  public int peerUser() throws IOException {
    return credential(4);
  }

  /** Returns a field of the peer's struct ucred, which the kernel noted when it connected. */
  private int credential(int offset) throws IOException {
    try (Scratch scratch = new Scratch(16)) {
      long memory = scratch.address();
      Memory.putInt(memory + 12, 12);
      if (Libc.getsockopt(fd.get(), Libc.SOL_SOCKET, Libc.SO_PEERCRED, memory, memory + 12) < 0) {
        throw Libc.failure("ask who is at " + peer);
      }
      return Memory.getInt(memory + offset);
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

  /** Ends this side's half of the connection; has no effect on a connection that has ended. */
  public void shutdownOutput() {
    Libc.shutdown(fd.get(), Libc.SHUT_WR);
  }

  /**
   * Ends both halves of the connection but keeps the descriptor; has no effect on a connection that
   * has ended.
   */
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
