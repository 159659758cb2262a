package graft.remoting.server;

import graft.remoting.device.Memory;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.LocalAddress;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.system.SocketAddress;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.file.Path;

/** A client's socket that can pass descriptors or have TLS, which Java's own sockets cannot. */
final class NativeByteChannel implements ByteChannel {
  private static final int MOST = 1 << 16;

  private final NativeSocket socket;

  NativeByteChannel(NativeSocket socket) {
    this.socket = socket;
  }

  static NativeByteChannel connect(Path path) throws IOException {
    int fd = Libc.socket(Libc.AF_UNIX, Libc.SOCK_STREAM, 0);
    try (Scratch address = new Scratch(SocketAddress.CAPACITY)) {
      int length = SocketAddress.write(address.address(), path);
      if (Libc.connect(fd, address.address(), length) != 0) {
        throw Libc.failure("connect to " + path);
      }
    }
    return new NativeByteChannel(new NativeSocket(fd, path.toString()));
  }

  static NativeByteChannel connect(ListenAddress.Tcp to) throws IOException {
    return connectFrom("", to);
  }

  /** Connects from another address of this machine, such as 127.0.0.2; any if it is empty. */
  static NativeByteChannel connectFrom(String local, ListenAddress.Tcp to) throws IOException {
    InetAddress host = InetAddress.getByName(to.host());
    int fd = Libc.socket(host instanceof Inet4Address ? 2 : 10, Libc.SOCK_STREAM, 0);
    if (!local.isEmpty()) {
      LocalAddress.bind(fd, local);
    }
    try (Scratch address = new Scratch(SocketAddress.CAPACITY)) {
      int length = SocketAddress.write(address.address(), host, to.port());
      if (Libc.connect(fd, address.address(), length) != 0) {
        throw Libc.failure("connect to " + to);
      }
    }
    return new NativeByteChannel(new NativeSocket(fd, to.toString()));
  }

  NativeSocket socket() {
    return socket;
  }

  @Override
  public int read(ByteBuffer to) throws IOException {
    int most = Math.min(to.remaining(), MOST);
    try (Scratch scratch = new Scratch(Math.max(most, 1))) {
      long count = socket.receive(scratch.address(), most);
      if (count == NativeSocket.END) {
        return -1;
      }
      to.put(Scratch.bytesAt(scratch.address(), (int) count));
      return (int) count;
    }
  }

  @Override
  public int write(ByteBuffer from) throws IOException {
    byte[] bytes = new byte[from.remaining()];
    from.get(bytes);
    try (Scratch scratch = new Scratch(Math.max(bytes.length, 1))) {
      Memory.write(scratch.address(), bytes, 0, bytes.length);
      socket.sendAll(scratch.address(), bytes.length, false);
    }
    return bytes.length;
  }

  @Override
  public boolean isOpen() {
    return socket.fd() >= 0;
  }

  /** Wakes a thread that reads, which then finds the end of the stream. */
  @Override
  public void close() {
    socket.shutdown();
    socket.close();
  }
}
