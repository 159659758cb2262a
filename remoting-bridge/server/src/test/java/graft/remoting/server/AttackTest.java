package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.api.Function;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.jail.JailConfig;
import graft.remoting.server.system.ListenAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever function a guest calls, no address outside its session's memory reaches the device. The
 * attacks are generated from the API's description. A device that refuses nothing shows that the
 * check refuses the attack, and the software device shows that an attack has no effect.
 */
@Timeout(300)
@Isolated("it counts the processes of this one")
class AttackTest {
  /**
   * Functions that cannot succeed here: they need a region, another session's handle, code or data
   * that the server keeps, a surface of something other than an array, or a link to another server
   * (see PeerLinksTest).
   */
  private static final Set<String> NEVER_RIGHT =
      Set.of(
          "graftIpcOpenMemory",
          "graftIpcOpenEvent",
          "graftMemoryExport",
          "graftMemoryImport",
          "graftPoolImport",
          "graftPoolPointerImport",
          "graftPeerOpen",
          "graftPeerReceive",
          "graftPeerSend",
          "graftModuleLoadKnown",
          "graftLibraryLoadKnown",
          "graftWriteKnown",
          "graftSurfaceCreate",
          "graftRegionMap",
          "graftRegionTake",
          "graftRegionUnmap",
          "graftRegionLacked",
          "graftCopyFromRegion",
          "graftCopyToRegion",
          "graftSignal");

  private static final String PROFILER = "../../distribution/src/test/c/profiling_library.c";

  @TempDir Path folder;

  private GraftServer start(String device) throws Exception {
    return start(device, JailConfig.defaults());
  }

  private GraftServer start(String device, JailConfig jail) throws Exception {
    return GraftServer.start(
        ServerConfig.builder(ServerFixture.tokens(folder), DeviceSpec.parse(device))
            .listen(ListenAddress.parse("tcp://127.0.0.1:0"))
            .jail(jail)
            .spares(1)
            .build());
  }

  /** Workers load a profiling library, so that the records reach it, too. */
  private JailConfig withProfiler() throws Exception {
    Path library = folder.resolve("libcupti.so.13");
    Process gcc =
        new ProcessBuilder(
                "gcc", "-shared", "-fPIC", "-pthread", "-o", library.toString(), PROFILER)
            .inheritIO()
            .start();
    assertThat(gcc.waitFor()).isZero();
    return JailConfig.defaults().withProfiler(library);
  }

  private static List<Long> children() {
    return ProcessHandle.current().descendants().map(ProcessHandle::pid).toList();
  }

  /** Reports of crashed workers, written by their Java runtime. */
  private static List<Path> crashes(Set<Long> workers) throws IOException {
    try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
      return files
          .filter(
              f ->
                  workers.stream()
                      .anyMatch(
                          w -> f.getFileName().toString().equals("graft-worker-" + w + ".log")))
          .toList();
    }
  }

  /** Reads device memory of a session. */
  private static byte[] read(CudaClient client, long address, int length) throws IOException {
    byte[] all = new byte[length];
    client.begin("graftRead", CudaClient.with(address, length, 0));
    for (int done = 0; done < length; ) {
      byte[] chunk = client.data().bytes().array();
      System.arraycopy(chunk, 0, all, done, chunk.length);
      done += chunk.length;
    }
    assertThat(client.wire.answer().result()).isZero();
    return all;
  }

  /** New device memory keeps its old contents, as in CUDA; these must not be another session's. */
  @Test
  void nothingOfASessionIsLeftForTheNext() throws Exception {
    int length = 8 << 20;
    byte[] pattern = new byte[length];
    java.util.Arrays.fill(pattern, (byte) 0xA5);
    try (GraftServer server = start("software")) {
      ListenAddress address = server.addresses().get(0);
      try (CudaClient alice =
          new CudaClient(WireClient.session(address, "alice", ServerFixture.ALICE)).retain()) {
        for (int i = 0; i < 4; i++) {
          long memory = alice.allocate(length);
          alice.async("graftWrite", CudaClient.with(memory, length, 0), pattern);
          assertThat(read(alice, memory, length)).isEqualTo(pattern);
        }
      }
      for (int session = 0; session < 2; session++) {
        try (CudaClient next =
            new CudaClient(WireClient.session(address, "alice", ServerFixture.ALICE)).retain()) {
          for (int i = 0; i < 4; i++) {
            assertThat(read(next, next.allocate(length), length)).doesNotContain((byte) 0xA5);
          }
        }
      }
    }
  }

  /** A hint for an address is only a hint. */
  @Test
  void noAddressesAreReservedWhereSomethingLies() throws Exception {
    try (GraftServer server = start("software");
        CudaClient client =
            new CudaClient(
                    WireClient.session(server.addresses().get(0), "alice", ServerFixture.ALICE))
                .retain()) {
      for (AttackedFunction.Hostile h : Attacker.hostile(children())) {
        long wish = h.address() & -AttackWorld.GRANULE;
        long got =
            client
                .call("cuMemAddressReserve", CudaClient.with(1, AttackWorld.GRANULE, 0, wish, 0))
                .getLong(0);
        assertThat(got).as(h.label()).isNotEqualTo(wish);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"willing", "software"})
  void noAddressOutsideTheSessionsMemoryIsTaken(String device) throws Exception {
    Set<Long> workers = new HashSet<>();
    List<Attacker.Outcome> wrong = new ArrayList<>();
    List<Attacker.Outcome> useless = new ArrayList<>();
    int attacks = 0;
    try (GraftServer server = start(device, withProfiler());
        Attacker attacker =
            new Attacker(
                () ->
                    WireClient.session(server.addresses().get(0), "alice", ServerFixture.ALICE))) {
      List<AttackedFunction.Hostile> hostile = Attacker.hostile(children());
      assertThat(hostile).hasSizeGreaterThan(10);
      for (Function f : attacker.functions()) {
        for (Attacker.Outcome outcome : attacker.attack(f, hostile)) {
          attacks += outcome.isAttack() ? 1 : 0;
          if (outcome.isAttack() && outcome.succeeded()) {
            wrong.add(outcome);
          } else if (!outcome.isAttack()
              && !outcome.succeeded()
              && !NEVER_RIGHT.contains(f.symbol())) {
            useless.add(outcome);
          }
        }
        workers.addAll(children());
      }
      assertThat(attacker.works()).isTrue();
      assertThat(attacker.ended()).as("sessions that ended").isZero();
    }
    assertThat(wrong).isEmpty();
    if (device.equals("willing")) {
      assertThat(useless).as("records that are right but for nothing").isEmpty();
    }
    assertThat(attacks).isGreaterThan(2000);
    assertThat(crashes(workers)).isEmpty();
  }
}
