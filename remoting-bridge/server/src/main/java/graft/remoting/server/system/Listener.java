package graft.remoting.server.system;

import com.sun.jna.Native;
import graft.remoting.device.Memory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** A listening socket. Closing a Unix socket removes its file. */
public final class Listener implements AutoCloseable {
  private static final int BACKLOG = 128;

  private final NativeSocket socket;
  private final ListenAddress address;
  private final SocketFile file;

  private Listener(NativeSocket socket, ListenAddress address, SocketFile file) {
    this.socket = socket;
    this.address = address;
    this.file = file;
  }

  /**
   * Listens on {@code address}.
   *
   * @throws ServerException if that fails, with the reason and what to do
   */
  public static Listener open(ListenAddress address) throws ServerException {
    if (address instanceof ListenAddress.Tcp tcp) {
      return openTcp(tcp);
    }
    return address instanceof ListenAddress.Vsock vsock
        ? openVsock(vsock)
        : openUnix(((ListenAddress.Unix) address).path(), Libc.SOCK_STREAM);
  }

  private static Listener openVsock(ListenAddress.Vsock address) throws ServerException {
    return open(
        address,
        null,
        Libc.AF_VSOCK,
        Libc.SOCK_STREAM,
        socket -> {
          bind(socket, address, memory -> SocketAddress.write(memory, address));
          return address;
        });
  }

  /** Listens on a Unix socket of the given type. Only the owner and the group may connect. */
  public static Listener openUnix(Path path, int type) throws ServerException {
    ListenAddress address = new ListenAddress.Unix(path);
    return open(
        address,
        SocketFile.claim(path),
        Libc.AF_UNIX,
        type,
        socket -> {
          bind(socket, address, memory -> SocketAddress.write(memory, path));
          Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-rw----"));
          return address;
        });
  }

  private static Listener openTcp(ListenAddress.Tcp address) throws ServerException {
    InetAddress host;
    try {
      host = InetAddress.getByName(address.host());
    } catch (UnknownHostException e) {
      throw new ServerException(
          "cannot listen at " + address + ": no such host name; write an address of this machine",
          e);
    }
    return open(
        address,
        null,
        host.getAddress().length == 4 ? Libc.AF_INET : Libc.AF_INET6,
        Libc.SOCK_STREAM,
        socket -> {
          socket.option(Libc.SOL_SOCKET, Libc.SO_REUSEADDR, 1);
          bind(socket, address, memory -> SocketAddress.write(memory, host, address.port()));
          return new ListenAddress.Tcp(address.host(), boundPort(socket));
        });
  }

  /** Binds a socket and returns its address. */
  private interface Binder {
    ListenAddress bind(NativeSocket socket) throws IOException, ServerException;
  }

  private static Listener open(
      ListenAddress address, SocketFile file, int family, int type, Binder binder)
      throws ServerException {
    NativeSocket socket = null;
    Listener made = null;
    try {
      socket = create(family, type, address);
      ListenAddress bound = binder.bind(socket);
      made = listen(socket, bound, file);
      return made;
    } catch (IOException e) {
      throw new ServerException("cannot listen at " + address + ": " + e.getMessage(), e);
    } finally {
      if (made == null) {
        close(socket);
        if (file != null) {
          file.close();
        }
      }
    }
  }

  private static void close(NativeSocket socket) {
    if (socket != null) {
      socket.close();
    }
  }

  private static NativeSocket create(int family, int type, ListenAddress address)
      throws IOException {
    int fd = Libc.socket(family, type | Libc.SOCK_CLOEXEC, 0);
    if (fd < 0) {
      throw Libc.failure("create a socket for " + address);
    }
    return new NativeSocket(fd, address.toString());
  }

  private interface AddressWriter {
    int write(long memory);
  }

  private static void bind(NativeSocket socket, ListenAddress address, AddressWriter writer)
      throws IOException, ServerException {
    try (Scratch scratch = new Scratch(SocketAddress.CAPACITY)) {
      long memory = scratch.address();
      int length = writer.write(memory);
      if (Libc.bind(socket.fd(), memory, length) < 0) {
        if (Native.getLastError() == Libc.EADDRINUSE) {
          throw inUse(address, null);
        }
        throw Libc.failure("bind");
      }
    }
  }

  static ServerException inUse(ListenAddress address, Throwable cause) {
    return new AddressInUseException(address, cause);
  }

  private static int boundPort(NativeSocket socket) throws IOException {
    try (Scratch scratch = new Scratch(SocketAddress.CAPACITY + 8)) {
      long memory = scratch.address();
      Memory.putInt(memory + SocketAddress.CAPACITY, SocketAddress.CAPACITY);
      if (Libc.getsockname(socket.fd(), memory, memory + SocketAddress.CAPACITY) < 0) {
        throw Libc.failure("get the port of " + socket.peer());
      }
      return SocketAddress.port(memory);
    }
  }

  private static Listener listen(NativeSocket socket, ListenAddress address, SocketFile file)
      throws IOException, ServerException {
    if (Libc.listen(socket.fd(), BACKLOG) < 0) {
      if (Native.getLastError() == Libc.EADDRINUSE) {
        throw inUse(address, null);
      }
      throw Libc.failure("listen");
    }
    return new Listener(socket, address, file);
  }

  /** Returns whether only this machine can connect to the address. */
  public static boolean isLoopback(ListenAddress.Tcp address) {
    try {
      return InetAddress.getByName(address.host()).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }

  /** Returns the address, with the port that the system chose. */
  public ListenAddress address() {
    return address;
  }

  public boolean isTcp() {
    return address instanceof ListenAddress.Tcp;
  }

  public int fd() {
    return socket.fd();
  }

  /** Waits for the next connection. */
  public NativeSocket accept() throws IOException {
    try (Scratch scratch = new Scratch(SocketAddress.CAPACITY + 8)) {
      long memory = scratch.address();
      Memory.putInt(memory + SocketAddress.CAPACITY, SocketAddress.CAPACITY);
      int fd =
          Libc.accept4(socket.fd(), memory, memory + SocketAddress.CAPACITY, Libc.SOCK_CLOEXEC);
      if (fd < 0) {
        throw Libc.failure("accept at " + address);
      }
      return new NativeSocket(
          fd,
          address instanceof ListenAddress.Unix ? address.toString() : SocketAddress.text(memory));
    }
  }

  /** Wakes the thread that waits in {@link #accept}. */
  public void shutdown() {
    socket.shutdown();
  }

  @Override
  public void close() {
    socket.close();
    if (file != null) {
      file.close();
    }
  }
}
