package graft.remoting.server.pool;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.json.Json;
import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.exchange.LeasePage;
import graft.remoting.server.exchange.SessionLimits;
import graft.remoting.server.health.GpuHealthModel;
import graft.remoting.server.system.Bytes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The dashboard in the documentation shows metrics that there are, by labels that they have. */
final class DashboardTest {
  private static final Path FILE = Path.of("../../docs/grafana-dashboard.json");
  private static final Pattern METRIC = Pattern.compile("\\bgraft_[a-z_]+");
  private static final Pattern LABEL =
      Pattern.compile("([A-Za-z_]+)(?==~?\")|by \\(([^)]*)\\)|\\{\\{([A-Za-z]+)\\}\\}");
  private static final Set<String> OF_GUESTS = Set.of("guest", "gpu", "UUID");

  private Map<String, Object> dashboard;
  private String page;

  @BeforeEach
  void read() throws Exception {
    dashboard = Json.readObject(Files.readString(FILE));
    ServerMetrics metrics = new ServerMetrics();
    ServedSession session =
        new ServedSession(
            1,
            Bytes.of(new byte[32]),
            new ServedSession.Client("a", "p", "tcp", "", new SessionLimits(1, 0, 1, 0, 0)),
            DeviceSpec.parse("cuda"),
            LeasePage.none());
    session.used(new ControlMessage.Used(1, 1, 1, 1, 1, 1));
    metrics.sessionStarted(session);
    GpuHealthModel gpus = new GpuHealthModel(Optional.empty());
    gpus.xid(31);
    page = metrics.page(1, 0, gpus.health().gpus());
  }

  private static void texts(Object tree, List<String> found) {
    if (tree instanceof Map<?, ?> map) {
      map.values().forEach(value -> texts(value, found));
    } else if (tree instanceof List<?> list) {
      list.forEach(value -> texts(value, found));
    } else if (tree instanceof String text && METRIC.matcher(text).find()) {
      found.add(text);
    }
  }

  private static Set<String> labels(String text) {
    Set<String> labels = new TreeSet<>();
    LABEL
        .matcher(text)
        .results()
        .forEach(
            match -> {
              for (int i = 1; i <= 3; i++) {
                if (match.group(i) != null) {
                  labels.addAll(List.of(match.group(i).split(", ", -1)));
                }
              }
            });
    return labels;
  }

  /** The labels of a metric on the page. */
  private Set<String> known(String metric) {
    return page.lines()
        .filter(line -> line.startsWith(metric + "{") || line.startsWith(metric + " "))
        .findFirst()
        .map(DashboardTest::labelsOf)
        .orElseThrow(() -> new AssertionError("there is no metric " + metric));
  }

  private static Set<String> labelsOf(String line) {
    return Pattern.compile("([A-Za-z]+)=\"")
        .matcher(line)
        .results()
        .map(match -> match.group(1))
        .collect(Collectors.toSet());
  }

  @Test
  void everyQueryIsAboutMetricsAndLabelsThatThereAre() {
    List<String> queries = new ArrayList<>();
    texts(dashboard, queries);
    assertThat(queries).hasSizeGreaterThan(15);
    for (String query : queries) {
      METRIC
          .matcher(query)
          .results()
          .forEach(m -> assertThat(known(m.group())).as(query).containsAll(labels(query)));
    }
  }

  @Test
  void everyMetricIsOnTheDashboard() throws Exception {
    String text = Files.readString(FILE);
    page.lines()
        .filter(line -> line.startsWith("# TYPE "))
        .map(line -> line.split(" ", -1)[2])
        .forEach(metric -> assertThat(text).contains(metric));
  }

  @Test
  void legendsNameLabelsThatTheirQueriesKeep() {
    for (Object panel : (List<?>) dashboard.get("panels")) {
      for (Object target : (List<?>) ((Map<?, ?>) panel).get("targets")) {
        String query = (String) ((Map<?, ?>) target).get("expr");
        Set<String> kept = query.contains("by (") ? grouped(query) : OF_GUESTS;
        String legend = (String) ((Map<?, ?>) target).get("legendFormat");
        assertThat(kept).as(query).containsAll(labels(legend));
      }
    }
  }

  private static Set<String> grouped(String query) {
    String labels = query.replaceFirst(".*by \\(([^)]*)\\).*", "$1");
    return Set.of(labels.split(", ", -1));
  }
}
