package graft.remoting.server.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.device.Memory;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.system.Descriptors;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Listener;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.system.SocketAddress;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The server's end of a shared-memory channel. The test implements the client's end from
 * client/src/transport/ring.h.
 */
@Timeout(120)
class RingTransportTest {
  private static final long RING = 4 << 20;
  private static final long REQUESTS_DATA = 1 << 20;
  private static final long ANSWERS_DATA = REQUESTS_DATA + RING;
  private static final long REQUESTS = 4096;
  private static final long ANSWERS = 8192;
  private static final int MAGIC = 0x48535247;

  /** This process has nothing at these addresses. */
  private static final long BASE = 0x210000000000L;

  @TempDir Path folder;
  private Listener listener;
  private NativeSocket client;
  private NativeSocket server;

  @BeforeEach
  void connect() throws Exception {
    Path path = folder.resolve("s");
    listener = Listener.openUnix(path, Libc.SOCK_STREAM);
    int fd = Libc.socket(Libc.AF_UNIX, Libc.SOCK_STREAM, 0);
    try (Scratch address = new Scratch(SocketAddress.CAPACITY)) {
      int length = SocketAddress.write(address.address(), path);
      assertThat(Libc.connect(fd, address.address(), length)).isZero();
    }
    client = new NativeSocket(fd, "client");
    server = listener.accept();
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
    listener.close();
  }

  private void greet(int magic, long bytes, long address, int fd) throws IOException {
    try (Scratch greeting = new Scratch(24)) {
      Memory.putInt(greeting.address(), magic);
      Memory.putInt(greeting.address() + 4, 1);
      Memory.putLong(greeting.address() + 8, bytes);
      Memory.putLong(greeting.address() + 16, address);
      Descriptors.send(client, greeting.address(), 24, fd < 0 ? List.of() : List.of(fd), 0);
    }
  }

  private RingTransport accept() throws IOException {
    return new RingTransport(server, RegionHandshake.receive(server, Duration.ofSeconds(5)));
  }

  /** Maps the rings for the client, at another address than for the server. */
  private static long mapForClient(int fd) {
    long address =
        Libc.mmap(0, Region.CONTROL, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED, fd, 0);
    assertThat(address).isNotEqualTo(-1);
    return address;
  }

  private RingClient clientAt(long memory) {
    return new RingClient(
        new Rings(
            memory + REQUESTS,
            memory + REQUESTS_DATA,
            memory + ANSWERS,
            memory + ANSWERS_DATA,
            RING),
        client);
  }

  @Test
  void bytesGoThroughBothRingsManyTimesAround() throws Exception {
    int fd = MemoryFile.create(ClientRegion.BYTES, true);
    long memory = mapForClient(fd);
    greet(MAGIC, ClientRegion.BYTES, BASE, fd);
    RingTransport transport = accept();
    clientAt(memory).exchange(transport, 11_000_003);
    unmap(fd, memory);
  }

  private static void unmap(int fd, long memory) {
    Libc.munmap(memory, Region.CONTROL);
    Libc.munmap(BASE, Region.CONTROL);
    Libc.close(fd);
  }

  @Test
  void positionsThatCannotBeAreProtocolErrors() throws Exception {
    int fd = MemoryFile.create(ClientRegion.BYTES, true);
    long memory = mapForClient(fd);
    greet(MAGIC, ClientRegion.BYTES, BASE, fd);
    RingTransport transport = accept();
    try {
      clientAt(memory).lie(transport);
    } finally {
      unmap(fd, memory);
    }
  }

  @Test
  void memoryThatMayShrinkIsRefused() throws Exception {
    int fd = MemoryFile.create(ClientRegion.BYTES, false);
    greet(MAGIC, ClientRegion.BYTES, BASE, fd);
    assertThatThrownBy(this::accept)
        .isInstanceOf(ProtocolException.class)
        .hasMessageContaining("sealed");
    Libc.close(fd);
  }

  @Test
  void memoryThatIsTooSmallIsRefused() throws Exception {
    int fd = MemoryFile.create(4096, true);
    greet(MAGIC, ClientRegion.BYTES, BASE, fd);
    assertThatThrownBy(this::accept)
        .isInstanceOf(ProtocolException.class)
        .hasMessageContaining("4096");
    Libc.close(fd);
  }

  @Test
  void addressesThatCannotBeAreRefused() throws Exception {
    int fd = MemoryFile.create(ClientRegion.BYTES, true);
    long taken = mapForClient(fd);
    for (long address : new long[] {0, 4096, BASE + 1, -4096, Long.MIN_VALUE, 1L << 47, taken}) {
      greet(MAGIC, ClientRegion.BYTES, address, fd);
      assertThatThrownBy(this::accept).as("%x", address).isInstanceOf(ProtocolException.class);
    }
    // Memory that was mapped there before is still mapped.
    Memory.putLong(taken, 1);
    Libc.munmap(taken, Region.CONTROL);
    Libc.close(fd);
  }

  @Test
  void aGreetingOfAnotherKindIsRefused() throws Exception {
    int fd = MemoryFile.create(ClientRegion.BYTES, true);
    greet(MAGIC + 1, ClientRegion.BYTES, BASE, fd);
    assertThatThrownBy(this::accept).isInstanceOf(ProtocolException.class);
    greet(MAGIC, ClientRegion.BYTES, BASE, -1);
    assertThatThrownBy(this::accept).isInstanceOf(ProtocolException.class);
    client.shutdown();
    assertThatThrownBy(this::accept).isInstanceOf(ProtocolException.class);
    Libc.close(fd);
  }

  @Test
  void chunksOutsideTheRegionAreNotMapped() throws Exception {
    int fd = MemoryFile.create(ClientRegion.BYTES, true);
    greet(MAGIC, ClientRegion.BYTES, BASE, fd);
    RingTransport transport = accept();
    Region region = transport.region();
    long[][] wrong = {
      {0, 4096},
      {Region.CONTROL - 4096, 4096},
      {ClientRegion.BYTES, 4096},
      {ClientRegion.BYTES - 4096, 8192},
      {Long.MAX_VALUE - 4095, 4096},
      {-4096, 8192},
      {Region.CONTROL + 1, 4096},
      {Region.CONTROL, 5},
      {Region.CONTROL, 0},
      {Region.CONTROL, -4096},
      {Region.CONTROL, Long.MIN_VALUE},
    };
    for (long[] chunk : wrong) {
      assertThat(region.map(chunk[0], chunk[1])).as("%x %x", chunk[0], chunk[1]).isZero();
    }
    assertThat(region.map(Region.CONTROL, 8192)).isEqualTo(BASE + Region.CONTROL);
    // A second mapping is refused, because it would replace one that is in use.
    assertThat(region.map(Region.CONTROL, 4096)).isZero();
    region.unmap(Region.CONTROL, 8192);
    Libc.munmap(BASE, Region.CONTROL);
    Libc.close(fd);
  }
}
