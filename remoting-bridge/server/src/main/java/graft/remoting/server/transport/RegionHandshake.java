package graft.remoting.server.transport;

import graft.remoting.device.Memory;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.system.Descriptors;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.time.Duration;

/**
 * How client and worker agree on shared memory, after WELCOME. Sizes and offsets are in bytes.
 *
 * <pre>
 * GREETING  24  0 magic, 4 version, 8 the region's size (u64; 0 for a guest's region), 16 the address at which
 *               the client maps or wants the region (u64); with a descriptor, except for a guest's region
 * ANSWER   128  only for a guest's region: 0 status (if not 0, nothing is shared and the connection ends),
 *               8 the region's size (u64), 16 offset of the rings' part (u64), 24 mark[16], which is also at
 *               that offset, 40 message[88]
 * </pre>
 */
public final class RegionHandshake {
  static final int MAGIC = 0x48535247;
  static final int VERSION = 1;
  static final int GREETING = 24;
  static final int ANSWER = 128;
  private static final int MESSAGE = 40;

  private RegionHandshake() {}

  /**
   * Receives the shared memory of a client on this host.
   *
   * @throws ProtocolException if the client sends none in time, or an invalid one
   */
  public static ClientRegion receive(NativeSocket socket, Duration limit) throws IOException {
    if (socket.poll(Libc.POLLIN, (int) limit.toMillis()) == 0) {
      throw new ProtocolException("the client sends no shared memory");
    }
    try (Scratch greeting = new Scratch(GREETING)) {
      Descriptors.Received received = Descriptors.receive(socket, greeting.address(), GREETING);
      if (received.bytes() != GREETING
          || received.fds().size() != 1
          || !isGreeting(greeting.address(), ClientRegion.BYTES)) {
        throw new ProtocolException("the client sends shared memory of another kind");
      }
      return new ClientRegion(received.fds().get(0), Memory.getLong(greeting.address() + 16));
    }
  }

  /**
   * Shares a guest's memory at the address that its client wants. TLS ends then: the socket is only
   * the rings' doorbell, which carries no data.
   *
   * @param fd the memory, opened for this session alone; -1 if there is none
   * @param problem why there is none
   * @throws IOException if the memory cannot be shared; the client has been told why
   * @throws ProtocolException if the client's request does not arrive in time or is invalid
   */
  public static GuestRegion agree(NativeSocket socket, int fd, String problem, Duration limit)
      throws IOException {
    long deadline = System.nanoTime() + limit.toNanos();
    try (Scratch greeting = new Scratch(GREETING)) {
      if (!socket.receiveAll(greeting.address(), GREETING, deadline)
          || !isGreeting(greeting.address(), 0)) {
        throw new ProtocolException("the client does not ask for its guest's shared memory");
      }
      if (fd < 0) {
        throw new GuestRegion.UnfitException(problem);
      }
      GuestRegion region = GuestRegion.open(fd, Memory.getLong(greeting.address() + 16));
      answer(socket, region, "");
      TlsSocket.endTls(socket);
      return region;
    } catch (GuestRegion.UnfitException e) {
      answer(socket, null, e.getMessage());
      throw new IOException(e.getMessage(), e);
    }
  }

  private static boolean isGreeting(long address, long bytes) {
    return Memory.getInt(address) == MAGIC
        && Memory.getInt(address + 4) == VERSION
        && Memory.getLong(address + 8) == bytes;
  }

  private static void answer(NativeSocket socket, GuestRegion region, String problem)
      throws IOException {
    try (Scratch answer = new Scratch(ANSWER)) {
      long memory = answer.address();
      Memory.putInt(memory, region == null ? 1 : 0);
      if (region != null) {
        Memory.putLong(memory + 8, region.bytes());
        Memory.putLong(memory + 16, region.rings() - region.address());
        Memory.write(memory + 24, region.mark().array(), 0, GuestRegion.MARK);
      }
      HandshakeMessages.write(problem, memory + MESSAGE, ANSWER - MESSAGE);
      socket.sendAll(memory, ANSWER, false);
    }
  }
}
