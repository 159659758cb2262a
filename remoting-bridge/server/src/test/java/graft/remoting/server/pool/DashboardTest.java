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
import java.util.regex.MatchResult;
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

  /** Two series of the same name could not be told apart, as those of a guest on two GPUs. */
  @Test
  void legendsNameTheLabelsThatTellSeriesApart() {
    for (Map<?, ?> target : targets()) {
      String query = (String) target.get("expr");
      assertThat(query).as("labels are few").containsPattern("^(sum|min|max)\\b");
      Set<String> kept = query.contains("by (") ? grouped(query) : Set.of();
      assertThat(labels((String) target.get("legendFormat"))).as(query).isEqualTo(kept);
    }
  }

  /**
   * A series that begins with its first event, as a guest's first session or a GPU's first Xid
   * error, has no sample of 0 before, so that {@code increase()} does not count the event.
   */
  @Test
  void theFirstEventsOfASeriesAreCounted() {
    GpuHealthModel gpus = new GpuHealthModel(Optional.empty());
    gpus.look();
    String atFirst = new ServerMetrics().page(1, 0, gpus.health().gpus());
    Pattern increase = Pattern.compile("increase\\(((graft_[a-z_]+)(?:\\{[^}]*})?)\\[(\\w+)]\\)");
    int counted = 0;
    for (Map<?, ?> target : targets()) {
      String query = (String) target.get("expr");
      for (MatchResult match : increase.matcher(query).results().toList()) {
        if (!atFirst.contains("\n" + match.group(2) + "{")
            && !atFirst.contains("\n" + match.group(2) + " ")) {
          String series = match.group(1);
          assertThat(query)
              .contains(
                  "("
                      + series
                      + " unless "
                      + series
                      + " offset "
                      + match.group(3)
                      + " or increase(");
          counted++;
        }
      }
    }
    assertThat(counted).as("sessions, faults and Xid errors").isEqualTo(3);
  }

  private List<Map<?, ?>> targets() {
    List<Map<?, ?>> targets = new ArrayList<>();
    for (Object panel : (List<?>) dashboard.get("panels")) {
      for (Object target : (List<?>) ((Map<?, ?>) panel).get("targets")) {
        targets.add((Map<?, ?>) target);
      }
    }
    return targets;
  }

  private static Set<String> grouped(String query) {
    String labels = query.replaceFirst(".*by \\(([^)]*)\\).*", "$1");
    return Set.of(labels.split(", ", -1));
  }
}
