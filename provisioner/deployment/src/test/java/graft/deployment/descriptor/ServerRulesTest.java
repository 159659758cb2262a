package graft.deployment.descriptor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import graft.common.bind.Problem;
import graft.common.values.TimeSpan;
import graft.deployment.descriptor.gpu.AuditTarget;
import graft.deployment.descriptor.gpu.LibraryPath;
import graft.deployment.descriptor.gpu.Server;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a descriptor may say of the servers of GPUs. */
class ServerRulesTest {
  @Test
  void whatAServersSessionsMayUseIsRead() throws Exception {
    Server server =
        DescriptorReader.read(
                Path.of("e.yaml"),
                LIMITED.formatted(
                    "host",
                    "{sessions: 8, guest-sessions: 2, idle-timeout: 30m}, audit: syslog,"
                        + " profiler-library: /home/me/.venv/lib/libcupti.so.13"))
            .descriptor()
            .gpus()
            .get(0)
            .server();
    assertThat(server.limits().sessions()).contains(8);
    assertThat(server.limits().guestSessions()).contains(2);
    assertThat(server.limits().idleTimeout()).contains(TimeSpan.parse("30m"));
    assertThat(server.audit()).isEqualTo(AuditTarget.SYSLOG);
    assertThat(server.profilerLibrary())
        .contains(LibraryPath.parse("/home/me/.venv/lib/libcupti.so.13"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "host | {host-memory: 32MiB} | 6:34: a session needs 64MiB of memory for its copies",
        "host | {guest-host-memory: 1MiB} | 6:40: a session needs 64MiB of memory",
        "host | {host-memory: 2GiB, guest-host-memory: 1GiB} | 6:34: 'host-memory' is 2GiB, more"
            + " than",
        "host | {sessions: 2, guest-sessions: 3} | 6:50: 'guest-sessions' is 3, more than"
            + " 'sessions'",
        "host | {sessions: 0} | 6:31: ",
        "host | {idle-timeout: never} | 6:35: 'idle-timeout': 'never' is not a time in s",
        "host | {}, audit: /var/log/x | 6:31: 'audit': '/var/log/x' is not one of auto, file,"
            + " syslog, off",
        "node:big | {sessions: 2} | 6:20: the server of the node 'big' has its own limits",
        "host | {}, watchdog: 0s | 6:34: 'watchdog': a time must be at least 1s",
        "node:big | {}, watchdog: 30s | 6:34: the server of the node 'big' has its own watchdog",
        "node:big | {}, audit: off | 6:31: the server of the node 'big' has its own audit trail",
        "node:big | {}, sensors: off | 6:33: the node 'big' itself says who sees the sensors",
        "node:big | {}, spare-context: off | 6:39: the node 'big' itself says whether spare workers",
        "node:big | {}, profiler-library: /l/c.so | 6:42: the node 'big' itself says which profiling",
        "host | {}, profiler-library: c.so | 6:42: 'profiler-library': 'c.so' is not an absolute pa",
        "host | {}, profiler-library: /l/../c.so | 6:42: 'profiler-library': '/l/../c.so' is not an",
        "host | {}, profiler-library: /l/c.so/ | 6:42: 'profiler-library': '/l/c.so/' is not an",
        "host | {}, profiler-library: /a b | 6:42: 'profiler-library': '/a b' is not an absolute",
        "host | {}, profiler-library: '/a%b' | 6:42: 'profiler-library': '/a%b' is not an absolute",
        "host | {}, profiler-library: \"/a\\nb\" | 6:42: 'profiler-library': ",
        "node:big | {}, metrics: off | 6:33: the node 'big' itself says whether it serves metrics",
        "node:big | {}, accounting: on | 6:36: the node 'big' itself says whether it writes",
        "node:big | {}, session-log: off | 6:37: the node 'big' itself says whether its log"
      })
  void limitsThatNoServerCanHaveAreProblemsAtTheirPlaces(String owner, String given, String said) {
    assertThat(problemsOf(LIMITED.formatted(owner, given)))
        .extracting(p -> p.position().line() + ":" + p.position().column() + ": " + p.message())
        .anySatisfy(message -> assertThat(message).startsWith(said));
  }

  private static final String LIMITED =
      """
      graft: 1
      nodes: [{name: big, server: tcp://10.0.0.9:7799, token-file: big.token}]
      gpus:
      - name: gpu0
        owner: %s
        server: {limits: %s}
      guests: []
      """;

  @Test
  void twoServersOfOneMachineHaveTwoPorts() throws Exception {
    String two =
        """
        graft: 1
        gpus:
          - {name: g0, device: software, server: {port: 8800}}
          - {name: g1, device: software, owner: %s, server: {port: 8800}}
        guests: [{name: a, image: i}]
        """;
    assertThat(problemsOf(two.formatted("host")))
        .extracting(Problem::toString)
        .containsExactly(
            "lab.yaml:4:62: two servers of one machine listen at port 8800 (the first is at"
                + " lab.yaml:3:49; choose another, or leave 'port' out)");
    DescriptorReader.read(Path.of("lab.yaml"), two.formatted("guest:a"));
  }

  private static List<Problem> problemsOf(String text) {
    InvalidDescriptorException e =
        catchThrowableOfType(
            InvalidDescriptorException.class,
            () -> DescriptorReader.read(Path.of("lab.yaml"), text));
    assertThat(e).as("problems").isNotNull();
    return e.problems();
  }
}
