package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code graft serve} and {@code graft run} as built, with a program linked to the client and
 * servers that accept or refuse it.
 */
final class RunTest {
  private static final String RIGHT = SoftwareServer.TOKEN;
  private static final String WRONG = "a5".repeat(32);
  private static final String NO_DEVICE = "cuInit 100";
  @TempDir static Path built;
  @TempDir Path folder;
  private SoftwareServer server;

  @BeforeAll
  static void buildThePrograms() throws Exception {
    Programs.build(
        built,
        List.of("loop", "driver", "devices", "copying", "sharing", "managed", "attached", "hints"));
  }

  @AfterEach
  void stopTheServer() throws Exception {
    if (server != null) {
      server.stop();
    }
  }

  @Test
  void overTcp() throws Exception {
    Finished program = run(serve("tcp://127.0.0.1:0"), "me", RIGHT, "3");
    assertThat(program.code()).as("%s", program).isZero();
    assertThat(program.out()).isEqualTo("cuInit 0\nlooping\nended 0\n");
    assertThat(program.err()).isEmpty();
  }

  @Test
  void overSharedMemoryOfAServerThatRuns() throws Exception {
    Path socket = folder.resolve("socket");
    serve("unix://" + socket);
    Finished program = run("shm://" + socket, "me", RIGHT, "3");
    assertThat(program.code()).as("%s", program).isZero();
    assertThat(program.out()).isEqualTo("cuInit 0\nlooping\nended 0\n");
  }

  /**
   * Without shared memory, mirroring makes the memory of both sides equal, and the program sees no
   * difference.
   */
  @Test
  void theDriverApiIsTheSameOverEachChannel() throws Exception {
    Path socket = folder.resolve("socket");
    String tcp = serve("tcp://127.0.0.1:0", "unix://" + socket);
    for (String address : List.of(tcp, "shm://" + socket, rdma(tcp))) {
      assertPrintsWhatItShould(command(at(address, built + "/driver"), tcp, "me", RIGHT));
    }
  }

  /** Constant values are queried once, since each query would wait for all earlier work. */
  @Test
  void limitsAreAskedOnce() throws Exception {
    String tcp = serve("tcp://127.0.0.1:0");
    List<String> counting = List.of("env", "GRAFT_SERVER=" + tcp, "GRAFT_STATS=1");
    List<String> program = new ArrayList<>(counting);
    program.add(built + "/driver");
    Finished driver =
        Finished.run(folder, Map.of("PATH", "/usr/bin:/bin"), command(program, tcp, "me", RIGHT));
    assertThat(driver.code()).as("%s", driver).isZero();
    assertThat(driver.err()).containsPattern("cuCtxGetLimit +11 calls +11 waits");
  }

  /** The address of the same server over UCX, with the devices that UCX finds on this machine. */
  private static String rdma(String tcp) {
    return tcp.replaceFirst("^tcp", "rdma");
  }

  /** A command that runs a program on the server at this address. */
  private static List<String> at(String address, String... program) {
    List<String> words = new ArrayList<>(List.of("env", "GRAFT_SERVER=" + address));
    words.addAll(List.of(program));
    return words;
  }

  /**
   * Server and program with a full /dev/shm: they share the program's own memory, which that limit
   * does not affect.
   */
  @Test
  void aFullSharedMemoryFolderIsNotNoticed() throws Exception {
    String full =
        """
        mount -t tmpfs -o size=8k none /dev/shm || exit 77
        head -c 100000 /dev/zero > /dev/shm/full 2> /dev/null && exit 78
        exec "$@"
        """;
    String shared = "GRAFT_SERVER=shm${GRAFT_SERVER#unix} exec \"$0\"";
    List<String> command = new ArrayList<>(List.of("unshare", "-rm", "sh", "-c", full, "sh"));
    command.addAll(List.of(SoftwareServer.GRAFT, "run", "--device", "software", "--"));
    command.addAll(List.of("sh", "-c", shared, built + "/driver"));
    Finished driver = Finished.run(folder, Map.of("PATH", "/usr/bin:/bin"), command);
    assumeFalse(driver.err().startsWith("unshare:") || driver.code() == 77, driver.err());
    assertThat(driver.code()).as("%s", driver).isZero();
    assertThat(driver.out())
        .isEqualTo(Files.readString(Path.of("src/test/resources/driver-api.txt")));
    assertThat(driver.err()).isEmpty();
  }

  /** Workers map libraries of the server's folder as code; Debian mounts /run noexec. */
  @Test
  void aServerServesFromAFolderThatIsMountedNoexec() throws Exception {
    String noexec = "mount -t tmpfs -o noexec none /tmp || exit 77; exec \"$@\"";
    List<String> command = new ArrayList<>(List.of("unshare", "-m", "sh", "-c", noexec, "sh"));
    command.addAll(List.of(SoftwareServer.GRAFT, "run", "--device", "software", "--"));
    command.add(Checkout.HOME.resolve("examples/built/vectorAdd").toString());
    Finished program = Finished.run(Checkout.HOME, Map.of("PATH", "/usr/bin:/bin"), command);
    assumeFalse(program.err().startsWith("unshare:") || program.code() == 77, program.err());
    assertThat(program.code()).as("%s", program).isZero();
    assertThat(program.out()).contains("result=ok");
  }

  /** The program and kernels add to the same memory at the same time without losing an addition. */
  @Test
  void managedMemoryIsTheProgramsOrTheDevicesAtATime() throws Exception {
    String tcp = serve("tcp://127.0.0.1:0", "unix://" + folder + "/socket");
    for (String address : List.of(tcp, "shm://" + folder + "/socket")) {
      List<String> exclusive =
          List.of("env", "GRAFT_SERVER=" + address, "GRAFT_MANAGED=exclusive", built + "/managed");
      Finished managed =
          Finished.run(
              folder, Map.of("PATH", "/usr/bin:/bin"), command(exclusive, tcp, "me", RIGHT));
      assumeFalse(managed.err().contains("needs userfaultfd"), managed.err());
      assertThat(managed.code()).as("%s over %s", managed, address).isZero();
      assertThat(managed.out())
          .as(address)
          .isEqualTo(
              """
              kernel and program: 121000 and 40
              once more, and waited: 241005 and 80
              while another thread launches: 3400000 and 800
              a system call gets what it may: yes
              a host function sees 120000 and adds one: 240001
              a result in it: yes
              copied from it: 240000
              copied to it: yes
              after three kernels: 360000
              allocated again: 0
              """);
    }
  }

  /** Runs a program over TCP and over shared memory, and compares what it prints. */
  private void assertPrints(String program, String expected) throws Exception {
    String tcp = serve("tcp://127.0.0.1:0", "unix://" + folder + "/socket");
    for (String address : List.of(tcp, "shm://" + folder + "/socket")) {
      List<String> command = command(at(address, built + "/" + program), tcp, "me", RIGHT);
      Finished finished = Finished.run(folder, Map.of("PATH", "/usr/bin:/bin"), command);
      assertThat(finished.code()).as("%s over %s", finished, address).isZero();
      assertThat(finished.out()).as(address).isEqualTo(expected);
    }
  }

  /** The program writes to memory that is attached to a stream while other streams work. */
  @Test
  void managedMemoryThatIsAttachedToAStreamIsTheProgramsWhileOthersWork() throws Exception {
    assertPrints(
        "attached",
        """
        attached to streams: 60 of 60 right
        attached to the program: 20 of 20 right, then to all: right
        no kind: 1
        two kinds: 1
        to no stream: 1
        """);
  }

  /** A wait for a stream waits for what a hint in that stream had to wait for. */
  @Test
  void hintsOnManagedMemoryAreWorkInTheirStream() throws Exception {
    assertPrints(
        "hints",
        """
        prefetched in a blocking stream: 10 of 10 right
        prefetched in the legacy stream: 10 of 10 right
        other memory prefetched: 10 of 10 right
        """);
  }

  /** Each process has its own session; one process opens the handles that the other exports. */
  @Test
  void processesShareMemoryAndEvents() throws Exception {
    String address = serve("tcp://127.0.0.1:0");
    Finished sharing =
        Finished.run(
            folder,
            Map.of("PATH", "/usr/bin:/bin"),
            command(List.of(built + "/sharing"), address, "me", RIGHT));
    assertThat(sharing.code()).as("%s", sharing).isZero();
    assertThat(sharing.out())
        .isEqualTo(
            """
            a handle that was made up: 1
            an event's handle for memory: 1
            opened twice, at one address: yes
            the taker sees what the giver wrote: yes
            it cannot free what is not its own: yes
            the taker sees it in physical memory too: yes
            closed twice: 1
            memory's handle for a pool's: 1
            the taker sees it in a pool's memory too: yes
            the taker waits for the recording that it asked for: yes
            the same handle for the same memory: yes
            the giver sees what the other wrote: yes
            the giver sees it in physical memory too: yes
            the giver sees it in a pool's memory too: yes
            """);
  }

  private void assertPrintsWhatItShould(List<String> command) throws Exception {
    Finished driver = Finished.run(folder, Map.of("PATH", "/usr/bin:/bin"), command);
    assertThat(driver.code()).as("%s", driver).isZero();
    assertThat(driver.out())
        .isEqualTo(Files.readString(Path.of("src/test/resources/driver-api.txt")));
    assertThat(driver.err()).isEmpty();
  }

  @Test
  void aProgramUsesTwoDevicesOfOneServer() throws Exception {
    server = SoftwareServer.start(folder, 2, "tcp://127.0.0.1:0");
    Finished program =
        Finished.run(
            folder, Map.of("PATH", "/usr/bin:/bin"), server.command(List.of(built + "/devices")));
    assertThat(program.out())
        .as(program.err())
        .isEqualTo(
            """
            devices 2
            the other device's kernel as it was
            device 0: 40, blocks fit
            device 1: 41, blocks fit
            copied: 41
            """);
    assertThat(program.code()).isZero();
  }

  @Test
  void aRefusedTokenIsACudaErrorAndOneLine() throws Exception {
    Finished program = run(serve("tcp://127.0.0.1:0"), "me", WRONG);
    assertFailsAtOnce(program, "refused me");
  }

  @Test
  void anUnknownNameIsACudaErrorAndOneLine() throws Exception {
    Finished program = run(serve("unix://" + folder.resolve("socket")), "you", RIGHT);
    assertFailsAtOnce(program, "refused you");
  }

  @Test
  void aServerThatIsAwayIsACudaErrorAndOneLine() throws Exception {
    assertFailsAtOnce(run("tcp://127.0.0.1:1", "me", RIGHT), "tcp://127.0.0.1:1");
  }

  /** An invalid file stands for a missing library, since the loader then searches no further. */
  @Test
  void withoutUcxRdmaSaysSoAndTheNextChannelCarries() throws Exception {
    String tcp = serve("tcp://127.0.0.1:0");
    Files.writeString(folder.resolve("libucp.so.0"), "");
    String without = "LD_LIBRARY_PATH=" + folder + ":" + Checkout.HOME.resolve("lib/client");
    List<String> alone = at(rdma(tcp), without, built + "/loop", "3");
    Finished program = run(command(alone, tcp, "me", RIGHT));
    assertFailsAtOnce(program, "rdma needs UCX's library (Debian: libucx0)");
    List<String> both = at(rdma(tcp) + ", " + tcp, without, built + "/loop", "3");
    program = run(command(both, tcp, "me", RIGHT));
    assertThat(program.out()).isEqualTo("cuInit 0\nlooping\nended 0\n");
    assertThat(program.err())
        .startsWith("graft: uses " + tcp + ", since rdma needs UCX's library")
        .hasLineCount(1);
  }

  @Test
  void overUcxsTcp() throws Exception {
    Finished program = overUcxsTcp(serve("tcp://127.0.0.1:0"));
    assertThat(program.out()).as("%s", program).isEqualTo("cuInit 0\nlooping\nended 0\n");
  }

  /** An emulated port that nothing can reach. */
  @Test
  void theServerGoesByThePortThatItIsGiven() throws Exception {
    assertFailsAtOnce(
        overUcxsTcp(serveBy("02:02:c9:00:00:ab")), "UCX cannot reach the other end's devices");
  }

  @Test
  void aPortThatTheServerDoesNotHaveIsSaidAtBothEnds() throws Exception {
    String why =
        "rdma is to go by the port none_0:2, and " + folder + "/adapters has others: none_0:1";
    assertFailsAtOnce(overUcxsTcp(serveBy("none_0:2")), "the other end refuses rdma: " + why);
    assertThat(server.log()).contains("WARNING: no client can use rdma now: " + why);
  }

  /** Starts a server on an emulated machine with one port, whose MAC is 02:02:c9:00:00:ab. */
  private String serveBy(String port) throws IOException {
    Path gids = Files.createDirectories(folder.resolve("adapters/none_0/ports/1/gids"));
    Files.writeString(gids.resolve("0"), "fe80:0000:0000:0000:0002:c9ff:fe00:00ab\n");
    Map<String, String> machine =
        Map.of("GRAFT_RDMA_DEVICES", folder.resolve("adapters").toString());
    List<String> options = List.of("--rdma-ports", port);
    server = SoftwareServer.start(folder, machine, options, "tcp://127.0.0.1:0");
    return server.address();
  }

  private Finished overUcxsTcp(String tcp) throws Exception {
    String[] program = {"UCX_TLS=tcp", "UCX_NET_DEVICES=lo", built + "/loop", "3"};
    return run(command(at(rdma(tcp), program), tcp, "me", RIGHT));
  }

  @ParameterizedTest
  @ValueSource(strings = {"tcp", "rdma"})
  void aServerThatIsKilledInMidCallIsACudaErrorAndOneLine(String channel) throws Exception {
    String tcp = serve("tcp://127.0.0.1:0");
    String address = tcp.replaceFirst("^tcp", channel);
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    Process program =
        new ProcessBuilder(command(at(address, built + "/loop"), tcp, "me", RIGHT))
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    try {
      while (!Files.readString(out).contains("looping")) {
        assertThat(program.isAlive()).as(Files.readString(err)).isTrue();
        TimeUnit.MILLISECONDS.sleep(20);
      }
      server.killSessions();
      assertThat(program.waitFor(60, TimeUnit.SECONDS)).as("the program ends").isTrue();
    } finally {
      program.descendants().forEach(ProcessHandle::destroyForcibly);
      program.destroyForcibly();
    }
    assertThat(program.exitValue()).isEqualTo(1);
    assertThat(Files.readString(out)).matches("cuInit 0\nlooping\nended [1-9][0-9]*\n");
    assertThat(Files.readAllLines(err)).singleElement().asString().startsWith("graft: session");
  }

  /** The worker of a killed program ends and its resources are freed; other sessions continue. */
  @ParameterizedTest
  @ValueSource(strings = {"tcp", "rdma"})
  void aProgramThatIsKilledInMidCopyLeavesNothing(String channel) throws Exception {
    String tcp = serve("tcp://127.0.0.1:0");
    String address = tcp.replaceFirst("^tcp", channel);
    Path out = folder.resolve("out");
    Process program =
        new ProcessBuilder(command(at(address, built + "/copying"), tcp, "me", RIGHT))
            .redirectOutput(out.toFile())
            .redirectErrorStream(true)
            .start();
    Set<ProcessHandle> workers;
    try {
      while (!Files.readAllLines(out).contains("copying")) {
        assertThat(program.isAlive()).as(Files.readString(out)).isTrue();
        TimeUnit.MILLISECONDS.sleep(20);
      }
      workers = server.workers();
    } finally {
      program.descendants().forEach(ProcessHandle::destroyForcibly);
      program.destroyForcibly();
    }
    // The worker of the program ends; a spare may remain for the next client.
    CompletableFuture.anyOf(
            workers.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new))
        .get(20, TimeUnit.SECONDS);
    Finished next = run(command(at(address, built + "/loop", "3"), tcp, "me", RIGHT));
    assertThat(next.out()).isEqualTo("cuInit 0\nlooping\nended 0\n");
  }

  private static void assertFailsAtOnce(Finished program, String line) {
    assertThat(program.code()).isEqualTo(1);
    assertThat(program.out()).isEqualTo(NO_DEVICE + "\n");
    assertThat(program.err().lines()).singleElement().asString().contains(line);
  }

  /** Starts a server and returns its first address. */
  private String serve(String... addresses) throws IOException {
    server = SoftwareServer.start(folder, addresses);
    return server.address();
  }

  private Finished run(String address, String name, String token, String... arguments)
      throws Exception {
    return run(command(loop(arguments), address, name, token));
  }

  private Finished run(List<String> command) throws Exception {
    return Finished.run(folder, Map.of("PATH", "/usr/bin:/bin"), command);
  }

  private List<String> loop(String... arguments) {
    List<String> words = new ArrayList<>(List.of(built + "/loop"));
    words.addAll(List.of(arguments));
    return words;
  }

  private List<String> command(List<String> program, String address, String name, String token)
      throws IOException {
    return SoftwareServer.command(folder, address, name, token, program);
  }
}
