package graft.remoting.server.share;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.grants.Grant;
import graft.common.grants.Share;
import graft.common.grants.TokensFile;
import graft.remoting.device.Memory;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.exchange.GpuLease;
import graft.remoting.server.exchange.LeasePage;
import graft.remoting.server.share.ArbiterMessage.Alive;
import graft.remoting.server.share.ArbiterMessage.Ask;
import graft.remoting.server.share.ArbiterMessage.Change;
import graft.remoting.server.share.ArbiterMessage.End;
import graft.remoting.server.share.ArbiterMessage.Hello;
import graft.remoting.server.share.ArbiterMessage.Open;
import graft.remoting.server.share.ArbiterMessage.Overrun;
import graft.remoting.server.share.ArbiterMessage.Turns;
import graft.remoting.server.share.ArbiterMessage.Wake;
import graft.remoting.server.system.Descriptors;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Listener;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Servers that follow an arbiter and send nonsense, or are stopped; and an arbiter that is. */
@Timeout(120)
@Isolated("it counts the descriptors of this process")
class FollowerAttackTest {
  private static final DeviceSpec DEVICE = DeviceSpec.parse("software");
  private static final String GPU = "GPU-67726166-742d-736f-6674-776172652d30";
  private static final int PAGE = 4096;
  private static final int RUNNING = 8;
  private static final int WAITING = 16;

  @TempDir Path folder;
  private GpuShares server;
  private final List<NativeSocket> sockets = new ArrayList<>();

  private Map<String, Grant> halves() throws IOException {
    Path file = folder.resolve("tokens");
    Files.writeString(file, "alice " + "ab".repeat(32) + " class=guaranteed compute=50\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return new TokensFile(file).read();
  }

  private Path socket() {
    return folder.resolve(GPU + ".sock");
  }

  @BeforeEach
  void startServer() throws Exception {
    HostArbiter.Place place = new HostArbiter.Place(folder, "a", process -> false);
    server = GpuShares.start(halves(), Duration.ZERO, Optional.of(place), false);
  }

  @AfterEach
  void stop() {
    server.close();
    sockets.forEach(NativeSocket::close);
  }

  private GpuLease open(String guest) throws IOException {
    GpuShares.SessionLease lease = server.open(guest, DEVICE);
    lease.begin(GPU);
    GpuLease worker = GpuLease.map(lease.page().fd());
    worker.askBy(lease::ask);
    return worker;
  }

  private ArbiterLink connect() throws IOException {
    NativeSocket socket = NativeSocket.connectPackets(socket(), "the arbiter");
    sockets.add(socket);
    return new ArbiterLink(socket);
  }

  private ArbiterLink introduced() throws IOException {
    ArbiterLink link = connect();
    link.send(new Hello(ArbiterMessage.VERSION, "b"), List.of());
    assertThat(link.receiveMessage()).isEqualTo(new Alive());
    return link;
  }

  private void awaitArbiter() throws InterruptedException {
    while (!Files.exists(folder.resolve(GPU + ".accounts"))) {
      TimeUnit.MILLISECONDS.sleep(1);
    }
  }

  /** Reads until the server ends the connection. */
  private static void assertCutOff(ArbiterLink link) throws IOException {
    while (link.receiveMessage() != null) {}
  }

  private static void turns(GpuLease worker, int number) {
    for (int i = 0; i < number; i++) {
      worker.begin();
      worker.end();
    }
  }

  private static Open session(long number) {
    return new Open(number, "guest", Share.DEFAULT, 0);
  }

  private static int memory(int bytes, int seals) {
    int fd = Libc.memfd_create("attack", Libc.MFD_CLOEXEC | Libc.MFD_ALLOW_SEALING);
    assertThat(Libc.ftruncate(fd, bytes)).isZero();
    assertThat(Libc.fcntl(fd, Libc.F_ADD_SEALS, seals)).isZero();
    return fd;
  }

  private static long descriptors() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return open.count();
    }
  }

  @Test
  void messagesThatMustNotComeEndTheConnection() throws Exception {
    GpuLease alice = open("alice");
    awaitArbiter();
    List<ArbiterMessage> wrong =
        List.of(
            new Hello(ArbiterMessage.VERSION, "again"),
            new Change("nobody", Share.DEFAULT),
            new End(7),
            new Wake(1),
            new Overrun(1),
            session(1)); // without a descriptor
    for (ArbiterMessage message : wrong) {
      ArbiterLink link = introduced();
      link.send(message, List.of());
      assertCutOff(link);
    }
    for (ArbiterMessage message :
        List.of(new Turns(true), new Change("a", Share.DEFAULT), new Alive(), session(1))) {
      ArbiterLink link = connect(); // not introduced
      link.send(message, List.of());
      assertCutOff(link);
    }
    ArbiterLink other = connect();
    other.send(new Hello(ArbiterMessage.VERSION + 1, "b"), List.of());
    assertCutOff(other);
    turns(alice, 10);
  }

  @Test
  void packetsThatAreNoMessagesEndTheConnection() throws Exception {
    GpuLease alice = open("alice");
    awaitArbiter();
    Random random = new Random(1);
    List<byte[]> packets = new ArrayList<>();
    packets.add(
        new Open(1, "x".repeat(ArbiterMessage.LONGEST_NAME + 1), Share.DEFAULT, 0).encode());
    packets.add(new byte[ArbiterMessage.MAX + 1]);
    packets.add(new byte[] {'O'});
    packets.add(new byte[] {'C', 0, 1, 'a', 0, 3, 'B', 'A', 'D', 50, 0, 4, 'H', 'I', 'G', 'H'});
    packets.add(new byte[] {'E', 0});
    packets.add(new byte[] {'A', 0}); // too long
    for (int i = 0; i < 50; i++) {
      byte[] packet = new byte[1 + random.nextInt(40)];
      random.nextBytes(packet);
      packet[0] = (byte) (i % 2 == 0 ? packet[0] | 0x80 : "OCE".charAt(i % 3));
      packets.add(packet);
    }
    for (byte[] packet : packets) {
      ArbiterLink link = introduced();
      try (Scratch scratch = Scratch.of(packet)) {
        Descriptors.send(link.socket(), scratch.address(), packet.length, List.of(), 0);
      }
      assertCutOff(link);
    }
    turns(alice, 10);
  }

  @Test
  void descriptorsOfAnythingButAPageEndTheConnectionAndAreClosed() throws Exception {
    GpuLease alice = open("alice");
    awaitArbiter();
    int sealed = Libc.F_SEAL_SHRINK | Libc.F_SEAL_GROW;
    int good = memory(PAGE, sealed);
    int other = memory(PAGE, sealed);
    List<List<Integer>> wrong =
        List.of(
            List.of(memory(PAGE, Libc.F_SEAL_GROW)), // can shrink: an access would be a fault
            List.of(memory(PAGE, Libc.F_SEAL_SHRINK)),
            List.of(memory(PAGE / 2, sealed)),
            List.of(memory(2 * PAGE, sealed)),
            List.of(memory(PAGE, sealed | Libc.F_SEAL_WRITE)),
            List.of(Libc.open("/dev/zero", Libc.O_RDWR)),
            List.of(good, other));
    long before = 0;
    for (int round = 0; round < 2; round++) {
      for (List<Integer> fds : wrong) {
        ArbiterLink link = introduced();
        link.send(session(1), fds);
        assertCutOff(link);
      }
      ArbiterLink twice = introduced();
      twice.send(session(1), List.of(good));
      twice.send(session(1), List.of(good));
      assertCutOff(twice);
      ArbiterLink negative = introduced();
      negative.send(new Open(1, "guest", Share.DEFAULT, -1), List.of(good));
      assertCutOff(negative);
      ArbiterLink superfluous = introduced();
      superfluous.send(new Ask(), List.of(good));
      assertCutOff(superfluous);
      sockets.forEach(NativeSocket::close);
      sockets.clear();
      before = round == 0 ? descriptors() : before;
    }
    while (descriptors() > before) { // the test's time limit ends it
      TimeUnit.MILLISECONDS.sleep(1);
    }
    turns(alice, 10);
  }

  @Test
  void thereAreOnlySoManyFollowersAndSessions() throws Exception {
    GpuLease alice = open("alice");
    awaitArbiter();
    ArbiterLink many = introduced();
    int page = memory(PAGE, Libc.F_SEAL_SHRINK | Libc.F_SEAL_GROW);
    for (int i = 0; i <= Follower.MOST_SESSIONS; i++) {
      many.send(session(i), List.of(page));
    }
    assertCutOff(many);
    for (int i = 0; i < HostArbiter.MOST_FOLLOWERS; i++) {
      introduced();
    }
    assertCutOff(connect());
    turns(alice, 10);
  }

  /** As under SIGSTOP: messages are not read, and the worker says what it likes. */
  @Test
  void aStoppedFollowerStopsNobody() throws Exception {
    GpuLease alice = open("alice");
    awaitArbiter();
    ArbiterLink stopped = introduced();
    try (LeasePage page = LeasePage.create()) {
      long words =
          Libc.mmap(0, PAGE, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_SHARED, page.fd(), 0);
      Memory.putLongVolatile(words + WAITING, 1);
      Memory.putLongVolatile(words + RUNNING, -1);
      stopped.send(new Open(1, "endless", Share.DEFAULT, 1), List.of(page.fd()));
      stopped.send(new Open(2, "other", Share.DEFAULT, 0), List.of(page.fd()));
      stopped.send(new Turns(true), List.of());
      turns(alice, 300);
      // Its connection is full by now, or will be: it is told of each turn.
      turns(open("bob"), 20);
    }
  }

  @Test
  void anArbiterThatIsStoppedStopsNobody() throws Exception {
    server.close();
    HostArbiter.Place place = new HostArbiter.Place(folder, "b", process -> false);
    try (Listener listener = Listener.openUnix(socket(), Libc.SOCK_SEQPACKET);
        GpuShares follower = GpuShares.start(halves(), Duration.ZERO, Optional.of(place), false)) {
      GpuShares.SessionLease lease = follower.open("alice", DEVICE);
      lease.begin(GPU);
      GpuLease alice = GpuLease.map(lease.page().fd());
      alice.askBy(lease::ask);
      ArbiterLink link = new ArbiterLink(listener.accept());
      sockets.add(link.socket());
      assertThat(link.receiveMessage()).isEqualTo(new Hello(ArbiterMessage.VERSION, "b"));
      turns(alice, 10); // it has not answered yet
      link.send(new Alive(), List.of());
      assertThat(link.receiveMessage()).isEqualTo(new Turns(true));
      ArbiterLink.Received open = link.receive();
      assertThat(open.message()).isInstanceOf(Open.class);
      LeasePage page = LeasePage.received(open.fds().get(0));
      page.revoke();
      turns(alice, 1); // after 5 s without an answer the follower decides for itself
      assertThat(follower.follows(GPU)).isFalse();
      page.revoke(); // the arbiter goes on, and does not know yet that nobody follows it
      turns(alice, 1);
      page.close();
    }
  }
}
