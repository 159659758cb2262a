package graft.remoting.server;

import graft.remoting.device.Memory;
import graft.remoting.server.session.call.Dispatcher;
import graft.remoting.server.system.Descriptors;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.ListenAddress;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.transport.MemoryFile;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * A client that shares memory with the server: in a guest (ivshmem), where the file itself stands
 * for the guest's PCI device, or on the server's host (shm). It is written from
 * client/src/transport/ring.h and not from the server's code.
 */
public final class GuestMemoryClient implements AutoCloseable {
  static final int REQUESTS = 4096;
  static final int ANSWERS = 8192;
  static final int REQUESTS_DATA = 1 << 20;
  static final int ANSWERS_DATA = 5 << 20;
  static final int BYTES = 9 << 20;
  private static final int RING = 4 << 20;
  private static final long REGION = 1L << 40;
  private static final int TAIL = 64;
  private static final int ASLEEP = 128;

  /** The worker has nothing at these addresses. */
  private static final long BASE = 0x210000000000L;

  private final WireClient wire;
  private final int fd;
  private final long rings;
  private final Thread bells = new Thread(this::listen, "bells");
  private volatile boolean ended;
  private long sent;
  private long received;

  private GuestMemoryClient(WireClient wire, int fd, long offset) {
    this.wire = wire;
    this.fd = fd;
    this.rings = Libc.mmap(0, BYTES, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED, fd, offset);
    if (rings == -1) {
      throw new AssertionError("cannot map the shared memory");
    }
    bells.setDaemon(true);
    bells.start();
  }

  /** Opens a session whose records go through {@code file}. */
  static GuestMemoryClient session(ListenAddress address, String name, byte[] token, Path file)
      throws IOException {
    WireClient wire = WireClient.connect(address);
    WireClient.Welcome welcome = wire.authenticate(name, token, Dispatcher.API_HASH, 0, 2, 0);
    if (welcome.status() != 0) {
      throw new IOException("refused: " + welcome.message());
    }
    wire.send(WireClient.little(24).putInt(0x48535247).putInt(1).putLong(0).putLong(BASE).flip());
    ByteBuffer answer = wire.receive(128);
    if (answer.getInt(0) != 0) {
      wire.close();
      byte[] text = WireClient.bytes(answer, 40, 88);
      throw new IOException(new String(text, StandardCharsets.UTF_8).split("\0", 2)[0]);
    }
    GuestMemoryClient client = new GuestMemoryClient(wire, open(file), answer.getLong(16));
    byte[] mark = WireClient.bytes(answer, 24, 16);
    if (!Arrays.equals(mark, Scratch.bytesAt(client.rings, 16))) {
      throw new IOException("the file does not show what the server has written");
    }
    return client;
  }

  /** Opens a session whose records go through memory that this process makes. */
  static GuestMemoryClient shm(ListenAddress.Unix address, String name, byte[] token)
      throws IOException {
    NativeByteChannel socket = NativeByteChannel.connect(address.path());
    WireClient wire = new WireClient(socket);
    WireClient.Welcome welcome = wire.authenticate(name, token, Dispatcher.API_HASH, 0, 1, 0);
    if (welcome.status() != 0) {
      throw new IOException("refused: " + welcome.message());
    }
    int fd = MemoryFile.create(REGION, true);
    try (Scratch greeting = new Scratch(24)) {
      Memory.putInt(greeting.address(), 0x48535247);
      Memory.putInt(greeting.address() + 4, 1);
      Memory.putLong(greeting.address() + 8, REGION);
      Memory.putLong(greeting.address() + 16, BASE);
      Descriptors.send(socket.socket(), greeting.address(), 24, List.of(fd), 0);
    }
    return new GuestMemoryClient(wire, fd, 0);
  }

  public static int open(Path file) {
    try (Scratch path = Scratch.of((file + "\0").getBytes(StandardCharsets.UTF_8))) {
      int fd = Libc.open(path.address(), Libc.O_RDWR);
      if (fd < 0) {
        throw new AssertionError("cannot open " + file);
      }
      return fd;
    }
  }

  /** Gives pages of the rings back to the kernel, which reads them as zeros from then on. */
  void punch(long offset, long bytes) {
    MemoryFile.punch(fd, offset, bytes);
  }

  /** Returns the address of its rings in this process. */
  long rings() {
    return rings;
  }

  /** Whether the server has closed the connection. */
  boolean hasEnded() {
    return ended;
  }

  /** Ends the connection, which also ends every wait for an answer. */
  void hangUp() throws IOException {
    wire.close();
  }

  private void listen() {
    try {
      while (true) {
        wire.receive(1);
      }
    } catch (IOException e) {
      ended = true;
    }
  }

  /** Returns the payload of the echo device's answer to one record. */
  byte[] call(int function, byte[] payload) throws IOException {
    byte[] record =
        WireClient.little(16 + payload.length)
            .putInt(16 + payload.length)
            .putShort((short) function)
            .putShort((short) 1)
            .putInt(1)
            .putInt(0)
            .put(payload)
            .array();
    put(record);
    byte[] header = take(16);
    int size = ByteBuffer.wrap(header).order(java.nio.ByteOrder.LITTLE_ENDIAN).getInt(0);
    if (size < 16 || size > 1 << 20) {
      throw new EOFException("an answer of " + size + " bytes");
    }
    return take(size - 16);
  }

  /** Writes at its own positions, because the positions in the memory may have been overwritten. */
  private void put(byte[] bytes) throws IOException {
    for (byte one : bytes) {
      Memory.putByte(rings + REQUESTS_DATA + sent++ % RING, one);
    }
    Memory.putLongVolatile(rings + REQUESTS, sent);
    if (Memory.getIntVolatile(rings + REQUESTS + ASLEEP) != 0) {
      Memory.putIntVolatile(rings + REQUESTS + ASLEEP, 0);
      wire.send(ByteBuffer.wrap(new byte[1]));
    }
  }

  private byte[] take(int length) throws IOException {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      while (Memory.getLongVolatile(rings + ANSWERS) == received) {
        if (ended) {
          throw new EOFException("the server has ended the session");
        }
        Thread.onSpinWait();
      }
      bytes[i] = Memory.getByte(rings + ANSWERS_DATA + received++ % RING);
    }
    Memory.putLongVolatile(rings + ANSWERS + TAIL, received);
    return bytes;
  }

  @Override
  public void close() throws IOException {
    wire.close();
    try {
      bells.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Libc.munmap(rings, BYTES);
    Libc.close(fd);
  }
}
