package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code graft compare} from end to end on the software device, and its report in a browser. */
@Tag("integration")
final class CompareTest {
  private static final String SUITE =
      """
      compare: 1
      name: test
      device: software
      seed: 1
      repetitions: 1
      warm-ups: 0
      baseline: unix
      scenarios: [{name: native}, {name: unix}, {name: shm}]
      workloads:
        - {name: kernels, arguments: [only=multi-copy, scale=0.1], profile: true}
        - {name: broken, kind: exec, program: [sh, -c, 'echo no such thing >&2; exit 3']}
        - {name: wrong, kind: exec, program: [echo, sum=3], check: 'sum=4\\b'}
      """;

  /**
   * A script that runs in the page and finds texts outside their drawing, and a page wider than the
   * window.
   */
  private static final String CHECK =
      """
      <script>
      const bad = [];
      for (const text of document.querySelectorAll('svg text:not([transform])')) {
        const box = text.getBBox(), view = text.ownerSVGElement.viewBox.baseVal;
        if (box.x < -1 || box.x + box.width > view.width + 1 || box.y + box.height > view.height + 1)
          bad.push('outside: ' + text.textContent);
      }
      if (document.documentElement.scrollWidth > innerWidth) bad.push('wider than the window');
      const plots = document.querySelectorAll('figure > svg').length;
      document.title = 'checked: ' + plots + ' plots; ' + bad.join('; ');
      </script>
      """;

  @TempDir static Path folder;

  private static Finished run(String program, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(program));
    command.addAll(List.of(arguments));
    Map<String, String> environment =
        Map.of("PATH", System.getenv("PATH"), "HOME", folder.toString());
    return Finished.run(folder, environment, command);
  }

  @BeforeAll
  static void compare() throws Exception {
    Files.writeString(folder.resolve("suite.yaml"), SUITE);
    Finished compared = graftCompare();
    assertThat(compared.code()).as(compared.err()).isZero();
  }

  private static Finished graftCompare() throws Exception {
    return run(SoftwareServer.GRAFT, "compare", "suite.yaml", "--output-dir", "out");
  }

  @Test
  void runsWhatItCanAndSaysWhatItCannot() throws Exception {
    Path out = folder.resolve("out");
    List<String> log = Files.readAllLines(out.resolve("results.jsonl"));
    assertThat(log.stream().filter(line -> line.contains("\"entry\":\"run\"")))
        .as("two ways, three workloads")
        .hasSize(6);
    assertThat(log.stream().filter(line -> line.contains("\"entry\":\"profile\"")))
        .hasSize(2)
        .allMatch(
            line -> line.contains("\"direction\":\"h2d\",\"memory\":\"pinned\",\"count\":24"));
    assertThat(Files.readString(out.resolve("report.html")))
        .contains("the software device has no driver of its own")
        .contains("exit code 3: no such thing")
        .contains("its output has nothing that matches check, sum=4");
    assertThat(Files.readString(out.resolve("results.csv")))
        .contains("shm,kernels,kernels,multi-copy,104856,MB/s,warm,1,");
  }

  @Test
  void runsNothingTwice() throws Exception {
    Finished again = graftCompare();
    assertThat(again.code()).isZero();
    assertThat(again.err()).as("nothing is left to run").doesNotContain("block 1, shm");
  }

  /** Two servers on this host, each with a separate device, stand for the nodes. */
  @Test
  void worksOnTheDevicesOfTwoNodes() throws Exception {
    Path first = Files.createDirectory(folder.resolve("node1"));
    Path second = Files.createDirectory(folder.resolve("node2"));
    SoftwareServer one = SoftwareServer.start(first, "tcp://127.0.0.1:0");
    SoftwareServer other = SoftwareServer.start(second, "tcp://127.0.0.1:0");
    try {
      SoftwareServer.secret(first.resolve("token"), SoftwareServer.TOKEN);
      SoftwareServer.secret(second.resolve("token"), SoftwareServer.TOKEN);
      Finished nodes = compareNodes("nodes", one.address(), other.address());
      assertThat(nodes.code()).as(nodes.err()).isZero();
      assertThat(Files.readString(folder.resolve("nodes/results.csv")))
          .contains("two-nodes,multi-gpu,multi-gpu,all-devices,2,ms,warm,1,")
          .contains("two-nodes,multi-gpu,multi-gpu,speed-up,2,x,warm,1,");
      other.stop();
      Finished without = compareNodes("without", one.address(), other.address());
      assertThat(without.code()).as(without.err()).isZero();
      assertThat(Files.readString(folder.resolve("without/results.csv")))
          .doesNotContain("speed-up");
      assertThat(Files.readString(folder.resolve("without/report.html")))
          .contains("node 1: cuInit(0): CUDA_ERROR_NO_DEVICE");
    } finally {
      one.stop();
      other.stop();
    }
  }

  private static Finished compareNodes(String out, String first, String second) throws Exception {
    Files.writeString(
        folder.resolve("nodes.yaml"),
        """
        compare: 1
        name: nodes
        device: software
        repetitions: 1
        warm-ups: 0
        baseline: two-nodes
        scenarios:
          - name: two-nodes
            kind: pf-remote
            server: %s
            client: me
            token-file: node1/token
            further-nodes: [{server: '%s', client: me, token-file: node2/token}]
        workloads: [{name: multi-gpu, arguments: [scale=0.01]}]
        """
            .formatted(first, second));
    return run(SoftwareServer.GRAFT, "compare", "nodes.yaml", "--output-dir", out);
  }

  @Test
  void itsReportIsWholeInABrowser() throws Exception {
    Optional<String> browser = browser();
    assumeTrue(browser.isPresent(), "no Chromium: apt-get install chromium-headless-shell");
    Path page = folder.resolve("check.html");
    String report = Files.readString(folder.resolve("out/report.html"));
    Files.writeString(page, report.replace("</body>", CHECK + "</body>"));
    Finished drawn = browse(browser.get(), "--dump-dom", page.toUri().toString());
    assertThat(drawn.out())
        .as(drawn.err())
        .containsPattern("<title>checked: [2-9] plots; </title>");
  }

  @Test
  void itsReportPrintsToFewPages() throws Exception {
    Optional<String> browser = browser();
    assumeTrue(browser.isPresent(), "no Chromium: apt-get install chromium-headless-shell");
    Path printed = folder.resolve("report.pdf");
    Finished print =
        browse(
            browser.get(),
            "--print-to-pdf=" + printed,
            folder.resolve("out/report.html").toUri().toString());
    assertThat(printed).as(print.err()).exists();
    String pdf = Files.readString(printed, StandardCharsets.ISO_8859_1);
    assertThat(Pattern.compile("/Type /Page\\b").matcher(pdf).results().count())
        .as("pages")
        .isBetween(1L, 9L);
  }

  private static Finished browse(String browser, String... arguments) throws Exception {
    List<String> all =
        new ArrayList<>(
            List.of("--headless", "--no-sandbox", "--disable-gpu", "--window-size=1000,1400"));
    all.addAll(List.of(arguments));
    return run(browser, all.toArray(String[]::new));
  }

  private static Optional<String> browser() throws IOException {
    return Stream.of("chromium-headless-shell", "chromium")
        .map(name -> "/usr/bin/" + name)
        .filter(path -> Files.isExecutable(Path.of(path)))
        .findFirst();
  }
}
