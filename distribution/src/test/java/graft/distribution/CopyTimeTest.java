package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The accounts of programs tell those that copy from those that compute: as built. */
@Timeout(180)
final class CopyTimeTest {
  private static final double SECONDS = 1.5;

  @TempDir Path folder;
  private SoftwareServer server;

  @BeforeEach
  void start() throws Exception {
    Programs.build(folder, List.of("engines"));
    server =
        SoftwareServer.start(
            folder,
            Map.of(),
            List.of("--accounting", folder.resolve("accounting.jsonl").toString()),
            "tcp://127.0.0.1:0",
            "unix://" + folder.resolve("socket"));
  }

  @AfterEach
  void stop() throws Exception {
    server.stop();
  }

  /** Runs the program with work of one kind. Returns the account of its session. */
  private Map<String, Object> run(String channel, String work) throws Exception {
    Path accounts = folder.resolve("accounting.jsonl");
    int before = Files.readAllLines(accounts).size();
    Finished program =
        Finished.run(
            folder,
            server.environment(server.over(channel)),
            List.of(folder.resolve("engines").toString(), work, String.valueOf(SECONDS)));
    assertThat(program.code()).as("%s", program).isZero();
    List<String> lines = Files.readAllLines(accounts);
    while (lines.size() == before) {
      TimeUnit.MILLISECONDS.sleep(10); // ended by the test's own time limit
      lines = Files.readAllLines(accounts);
    }
    Map<String, Object> account = Json.readObject(lines.get(before));
    System.out.printf(
        "%s, %s: %s s of GPU time, copies to the device %s, from it %s%n",
        channel,
        work,
        account.get("gpuSeconds"),
        account.get("copyToDeviceSeconds"),
        account.get("copyFromDeviceSeconds"));
    assertThat(account).containsEntry("channel", channel);
    assertThat(seconds(account, "gpuSeconds")).isPositive();
    return account;
  }

  private static double seconds(Map<String, Object> account, String field) {
    return ((Number) account.get(field)).doubleValue();
  }

  /** The part of the GPU time that a field has is nearly all of it, or nearly nothing. */
  private static void assertPart(Map<String, Object> account, String field, boolean isAll) {
    assertThat(seconds(account, field) / seconds(account, "gpuSeconds"))
        .as("%s of %s", field, account)
        .isBetween(isAll ? 0.9 : 0.0, isAll ? 1.01 : 0.05);
  }

  @ParameterizedTest
  @ValueSource(strings = {"shm", "unix", "tcp"})
  void whatCopiesAndWhatComputesIsToldApart(String channel) throws Exception {
    for (String work : List.of("to", "from", "compute")) {
      Map<String, Object> account = run(channel, work);
      assertPart(account, "copyToDeviceSeconds", work.equals("to"));
      assertPart(account, "copyFromDeviceSeconds", work.equals("from"));
    }
  }
}
