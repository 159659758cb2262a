package graft.deployment.hosts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import graft.common.values.Name;
import graft.deployment.descriptor.hosts.Host;
import graft.deployment.hosts.HostReply.Outcome;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the operator's machine and its hosts say to each other; either may be an attacker. */
class HostMessagesTest {
  private static final Name LAB = new Name("lab");

  private static HostRequest request(Map<String, String> files) {
    return new HostRequest(
        HostRequest.Command.APPLY, LAB, Map.of("graft", 1L), files, "1-2", true, false);
  }

  @Test
  void aRequestIsReadAsItWasWritten() throws IOException {
    HostRequest sent = request(Map.of("a.g.0123.token", "secret"));
    assertThat(HostRequest.parse(sent.toJson())).isEqualTo(sent);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"../x.token", "/etc/passwd", "a", ".token", "a/b.token", "A.token", "a.token\n"})
  void aRequestWritesNoFilesButTokensInItsFolder(String name) {
    String json = request(Map.of("a.token", "s")).toJson();
    assertThatThrownBy(() -> HostRequest.parse(json.replace("a.token", name.replace("\n", "\\n"))))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("is no file with a token");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{}",
        "{\"request\": 2}",
        "{\"request\": 1, \"command\": \"run\"}",
        "garbage",
      })
  void whatIsNoRequestIsRefused(String text) {
    assertThatThrownBy(
            () ->
                ReceivedRequest.read(
                    new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8))))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("no request was received");
  }

  @Test
  void aRequestCannotNameAnotherFolder() {
    String json = request(Map.of()).toJson().replace("\"lab\"", "\"../../etc\"");
    assertThatThrownBy(() -> HostRequest.parse(json)).isInstanceOf(IOException.class);
  }

  @Test
  void anAnswerWithControlCharactersIsShownWithoutThem() {
    HostReply reply =
        HostReply.of(
            LAB, 1, "{\"error\": \"\\u001b]0;owned\\u0007\\nsecond line\"}", "", Duration.ZERO);
    assertThat(reply.outcome()).isEqualTo(Outcome.FAILED);
    assertThat(reply.error()).isEqualTo("\\u001b]0;owned\\u0007 second line");
  }

  @ParameterizedTest
  @ValueSource(strings = {"no json", "[1]", "{\"a\": ", "{} {}", "", "{\"a\": 1e999999999}x"})
  void anAnswerThatIsNoObjectIsNoAnswer(String printed) {
    assertThat(HostReply.of(LAB, 0, printed, "", Duration.ZERO).outcome())
        .isEqualTo(Outcome.UNREACHABLE);
  }

  @Test
  void anAnswerThatIsNestedWithoutEndIsNoAnswer() {
    String deep = "{\"a\": " + "[".repeat(100_000) + "]".repeat(100_000) + "}";
    assertThat(HostReply.of(LAB, 0, deep, "", Duration.ZERO).outcome())
        .isEqualTo(Outcome.UNREACHABLE);
  }

  @Test
  void partsOfAnAnswerThatAreOfAnotherKindAreLeftOut() {
    HostReply reply =
        HostReply.of(
            LAB, 0, "{\"actions\": [1, {\"id\": 7}, null], \"steps\": \"x\"}", "", Duration.ZERO);
    assertThat(reply.objects("actions")).hasSize(1);
    assertThat(reply.objects("guests")).isEmpty();
    assertThat(reply.texts("actions")).isEmpty();
    assertThat(reply.number("steps")).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Welcome to host",
        "{\"graft\": 1, \"millis\": 2}",
        "{\"graft\": \"x\", \"millis\": -9223372036854775808}",
        "{\"graft\": \"x\", \"millis\": 9223372036854775807}",
      })
  void aGreetingThatIsNotGraftsIsRefused(String line) {
    assertThatThrownBy(() -> HostGreeting.parse(line))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("not Graft's");
  }

  @Test
  void aClockThatIsApartIsNamed() {
    assertThat(HostReply.of(LAB, 0, "{}", "", Duration.ofSeconds(-3)).clockWarning()).isEmpty();
    assertThat(HostReply.of(LAB, 0, "{}", "", Duration.ofSeconds(-90)).clockWarning())
        .startsWith("lab: its clock is 90 s behind this machine's");
  }

  @Test
  void outputWithoutEndNeedsNoMemory() {
    ReplyOutput kept = new ReplyOutput(10, Clock.systemUTC());
    kept.write(new byte[100], 0, 100);
    assertThat(kept.size()).isEqualTo(10);
    assertThat(kept.isTruncated()).isTrue();
    List<String> lines = new ArrayList<>();
    LineOutput output = new LineOutput(lines::add);
    for (int i = 0; i < 10_000; i++) {
      output.write('x');
    }
    output.write('\n');
    output.write(27);
    assertThat(output.last()).isEqualTo("\\u001b");
    assertThat(lines).hasSize(4).allSatisfy(line -> assertThat(line).hasSizeLessThan(5000));
  }

  @Test
  void hostsOfAnInventoryHaveAnsiblesVariables() throws IOException {
    List<Host> hosts =
        AnsibleInventory.parse(
            """
            {"_meta": {"hostvars": {
               "one": {"ansible_host": "192.0.2.1", "ansible_user": "admin", "ansible_port": 2222,
                       "ansible_ssh_private_key_file": "/k", "graft_address": "10.0.0.1"},
               "other": {"ansible_host": "192.0.2.3"}}},
             "all": {"children": ["ungrouped"]}, "ungrouped": {"hosts": ["one", "two", "other"]}}
            """,
            Set.of(new Name("one"), new Name("two"), new Name("three")));
    assertThat(hosts)
        .extracting(h -> h.name() + " " + h.ssh() + " " + h.port() + " " + h.served())
        .containsExactly("one admin@192.0.2.1 2222 10.0.0.1", "two root@two 22 two");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"ansible_host\": \"-oProxyCommand=x\"",
        "\"ansible_user\": \"-x\"",
        "\"ansible_port\": 0",
        "\"ansible_port\": \"x\"",
        "\"graft_folder\": \"/a;b\""
      })
  void anInventoryHasNoOptionsForSsh(String variable) {
    String json = "{\"_meta\": {\"hostvars\": {\"one\": {" + variable + "}}}}";
    assertThatThrownBy(() -> AnsibleInventory.parse(json, Set.of(new Name("one"))))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("the inventory's host 'one' cannot be reached");
  }
}
