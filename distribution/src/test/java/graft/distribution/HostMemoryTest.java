package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Memory of every kind agrees with a model of it, over the channels of one machine: random copies,
 * fills, kernels, graphs, host functions, a second device and a second process, two minutes in all
 * (those of "known" run twice), with new seeds each time. Memory is freed and unregistered in
 * between, with {@code --busy} also while queued work uses it. A difference is reported with its
 * seed, and {@code remoting-bridge/client/fuzz/memory --seed N} reproduces it.
 *
 * <p>The channel ivshmem has a file in the place of the guest's device, with too little room for
 * large memory. The channel rdma needs no adapter: UCX takes its own TCP. The channels vsock and
 * vchan need a guest.
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class HostMemoryTest {
  /** Room for some 6 processes. */
  private static final long REGION = 512L << 20;

  @TempDir static Path folder;
  private static SoftwareServer server;
  private static GuestRegionFile region;

  @BeforeAll
  static void serve() throws Exception {
    region = GuestRegionFile.make(folder, REGION);
    String socket = "unix://" + folder.resolve("socket");
    server = SoftwareServer.sharing(folder, 2, region, "tcp://127.0.0.1:0", socket);
    Programs.buildFuzzer("memory", folder);
  }

  @AfterAll
  static void stop() throws Exception {
    server.stop();
  }

  @ParameterizedTest(name = "{0} {1}, {3}")
  @CsvSource({
    "shm, --bytes 65536 --share --busy, 10, auto",
    "shm, --bytes 300 --threads 3 --unwaited --busy, 10, auto",
    "shm, --large --bytes 16777216, 10, auto",
    "unix, --bytes 65536 --unwaited --busy, 10, auto",
    "tcp, --bytes 65536 --share --busy, 10, auto",
    "tcp, --bytes 300 --threads 3 --share --unwaited --busy, 10, auto",
    "tcp, --large --bytes 16777216 --unwaited, 5, auto",
    "ivshmem, --bytes 65536 --share --busy, 10, auto",
    "ivshmem, --large --bytes 33554432 --busy, 5, auto",
    "rdma, --bytes 65536 --share --busy, 5, auto",
    "rdma, --bytes 300 --threads 3 --unwaited --busy, 5, lo",
    "tcp, --bytes 65536 --share, 5, yes",
    "tcp, --large --bytes 16777216, 5, yes",
    "tcp, --bytes 300000 --share, 5, known",
    "tcp, --large --bytes 16777216, 5, known"
  })
  void bytesAreWhereTheModelSays(String channel, String arguments, int seconds, String setting)
      throws Exception {
    String seed = Long.toString(new SecureRandom().nextLong() & Long.MAX_VALUE);
    List<String> command = new ArrayList<>();
    command.addAll(List.of(folder.resolve("memory").toString(), "--seed", seed));
    command.addAll(List.of("--strict", "--seconds", Integer.toString(seconds)));
    command.addAll(List.of(arguments.split(" ")));
    Map<String, String> environment = new HashMap<>(server.environment(server.over(channel)));
    boolean known = setting.equals("known");
    environment.put("GRAFT_COMPRESSION", known ? "no" : setting.equals("lo") ? "auto" : setting);
    environment.put("GRAFT_KNOWN_DATA", known ? "yes" : "auto");
    environment.put("GRAFT_STATS", "1");
    if (channel.equals("ivshmem")) {
      environment.put("GRAFT_PCI_DEVICES", region.devices().toString());
    }
    if (setting.equals("lo")) {
      environment.putAll(Map.of("UCX_TLS", "tcp", "UCX_NET_DEVICES", "lo"));
    }
    Finished program = run(environment, command, seconds);
    System.out.println(channel + ": " + program.out());
    if (known) { // by the first run's session, where the second one copies the same
      Finished second = run(environment, command, seconds);
      assertThat(second.err()).contains("that the server had");
    }
  }

  private static Finished run(Map<String, String> environment, List<String> command, int seconds)
      throws Exception {
    Finished program =
        Finished.run(folder, environment, command, Duration.ofSeconds(seconds + 120L));
    assertThat(program.code()).as("%s", program).isZero();
    return program;
  }
}
