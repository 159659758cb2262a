package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * After a kernel has failed, every call returns the same result as natively, but for {@link
 * #DIFFERENCES}: {@code faults.txt} was recorded on an H200 with driver 580.159.04 by {@code
 * scripts/faults-check} ({@code src/test/c/faults.c} is the program). It has the cases that ended
 * natively.
 */
final class FaultsTest {
  private static final Pattern CASE =
      Pattern.compile("(fault (\\w+), end (\\d+))( \\(GPU only: .*\\))?");

  /** A result, or "not made" for an object that the software device does not have. */
  private static final Pattern CALL = Pattern.compile(" +(.*?) +(\\d+|not made)");

  /** What calls return that do not answer as natively; docs/host-memory.md has the reasons. */
  private static final Map<String, String> DIFFERENCES =
      Map.of("cuFlushGPUDirectRDMAWrites", "801", "cuDeviceGetGraphMemAttribute", "801");

  @TempDir Path folder;
  private SoftwareServer server;

  @AfterEach
  void stop() throws Exception {
    server.stop();
  }

  @Test
  void everyCallAnswersAsNatively() throws Exception {
    server = SoftwareServer.forAllChannels(folder);
    Programs.gcc(
        "-std=gnu11", "-o", folder.resolve("faults").toString(), "src/test/c/faults.c", "-ldl");
    Map<String, Map<String, String>> recorded = results(recording());
    List<String> possible = run("shm", "list").out().lines().toList();
    assertThat(results(possible).keySet()).as("cases").containsAll(recorded.keySet());
    for (String line : possible) {
      Matcher title = CASE.matcher(line);
      assertThat(title.matches()).as(line).isTrue();
      Map<String, String> expected = recorded.get(title.group(1));
      if (expected == null || title.group(4) != null) {
        continue;
      }
      // What ends a context is the client's work, the same over every channel.
      boolean everyClass = title.group(3).equals("0");
      for (String channel : everyClass ? List.of("shm", "tcp") : List.of("shm")) {
        compare(channel, title, expected);
      }
    }
  }

  /** The program waits for work of the device that is not current. */
  @ParameterizedTest
  @ValueSource(strings = {"stream", "event", "stream-query", "event-query"})
  void aFaultOfOneDeviceLeavesTheOtherUsable(String way) throws Exception {
    server = SoftwareServer.start(folder, 2, "unix://" + folder.resolve("socket"));
    Programs.build(folder, List.of("device_fault"));
    Finished program =
        Finished.run(
            folder,
            server.environment(server.over("shm")),
            List.of(folder.resolve("device_fault").toString(), way));
    assertThat(program.out())
        .as("%s", program)
        .isEqualTo("wait 700\ndevice 1 0 0\nstream of device 0 700\ndevice 0 700 700\n");
  }

  private void compare(String channel, Matcher title, Map<String, String> expected)
      throws Exception {
    Finished program = run(channel, title.group(2), title.group(3));
    assertThat(program.code()).as("%s", program).isZero();
    Map<String, String> got = results(program.out().lines().toList()).get(title.group(1));
    Map<String, String> wanted = new LinkedHashMap<>(expected);
    wanted.replaceAll((call, result) -> DIFFERENCES.getOrDefault(call, result));
    Map<String, String> compared = new LinkedHashMap<>();
    wanted.forEach(
        (call, result) ->
            compared.put(call, "not made".equals(got.get(call)) ? result : got.get(call)));
    assertThat(compared).as("%s over %s", title.group(1), channel).isEqualTo(wanted);
    if (title.group(2).equals("asserted")) {
      // CUDA writes the message of a failed assertion to the program's standard error.
      assertThat(program.err()).as(channel).contains(" Assertion `A` failed.");
    }
  }

  private Finished run(String channel, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(folder.resolve("faults").toString()));
    command.addAll(List.of(arguments));
    return Finished.run(folder, server.environment(server.over(channel)), command);
  }

  private static List<String> recording() throws Exception {
    return new String(
            FaultsTest.class.getResourceAsStream("/faults.txt").readAllBytes(),
            StandardCharsets.UTF_8)
        .lines()
        .toList();
  }

  /** The results of each case by its call: the second of a function is {@code NAME (2)}. */
  private static Map<String, Map<String, String>> results(List<String> lines) {
    Map<String, Map<String, String>> cases = new LinkedHashMap<>();
    Map<String, String> calls = Map.of();
    Map<String, Integer> times = new HashMap<>();
    for (String line : lines) {
      Matcher title = CASE.matcher(line);
      Matcher call = CALL.matcher(line);
      if (title.matches()) {
        calls = new LinkedHashMap<>();
        cases.put(title.group(1), calls);
        times.clear();
      } else {
        assertThat(call.matches()).as(line).isTrue();
        int time = times.merge(call.group(1), 1, Integer::sum);
        calls.put(call.group(1) + (time > 1 ? " (" + time + ")" : ""), call.group(2));
      }
    }
    return cases;
  }
}
