package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class AgentCommandTest {

  @Test
  void keepsArgumentsApart() {
    AgentCommand command =
        AgentCommand.of("/bin/echo", "a b", "$x").withEnvironment(Map.of("x", "1"));
    assertThat(command.arguments()).containsExactly("a b", "$x");
    assertThat(command.environment()).containsEntry("x", "1");
    assertThat(command.line()).isEqualTo("/bin/echo a b $x");
  }

  @Test
  void refusesInputThatDoesNotFitIntoOneMessage() {
    byte[] fits = new byte[AgentCommand.MAX_INPUT];
    assertThat(AgentCommand.of("cat").withInput(fits).input()).isPresent();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> AgentCommand.of("cat").withInput(new byte[fits.length + 1]))
        .withMessageContaining("write a file first");
  }

  @Test
  void refusesNoTimeAtAll() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> AgentCommand.of("cat").withTimeout(Duration.ZERO));
  }

  @Test
  void aResultPrintsItsEnd() {
    assertThat(
            new AgentResult(
                OptionalInt.of(3),
                OptionalInt.empty(),
                new byte[0],
                "no such\n".getBytes(StandardCharsets.UTF_8),
                false))
        .hasToString("exit code 3: no such");
    assertThat(
            new AgentResult(
                OptionalInt.empty(), OptionalInt.of(9), new byte[0], new byte[0], false))
        .hasToString("signal 9");
  }
}
