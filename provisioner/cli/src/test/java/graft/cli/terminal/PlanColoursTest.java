package graft.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** A plan has colours where a person can and wants to see them. */
class PlanColoursTest {
  @Test
  void eachKindOfLineHasItsColour() {
    assertThat(
            PlanColours.paint(
                """
                warning: after a reboot, guests are off
                note: guest alice: NUMA node 1
                lab on qemu:///system
                  guest alice: restarts
                    - undo: start it
                    + start it
                deletes data: the disk 'root' of alice
                2 steps"""))
        .isEqualTo(
            """
            ~[33mwarning: after a reboot, guests are off~[0m
            note: guest alice: NUMA node 1
            lab on qemu:///system
            ~[1m  guest alice: restarts~[0m
            ~[31m    - undo: start it~[0m
            ~[32m    + start it~[0m
            ~[1;31mdeletes data: the disk 'root' of alice~[0m
            2 steps"""
                .replace('~', '\u001b'));
  }

  @Test
  void onlyATerminalThatHasColoursGetsThem() {
    Map<String, String> xterm = Map.of("TERM", "xterm");
    assertThat(PlanColours.areWanted(true, xterm)).isTrue();
    assertThat(PlanColours.areWanted(false, xterm)).isFalse();
    assertThat(PlanColours.areWanted(true, Map.of("TERM", "dumb"))).isFalse();
    assertThat(PlanColours.areWanted(true, Map.of())).isFalse();
  }

  @Test
  void whoSetsNoColorGetsNone() {
    assertThat(PlanColours.areWanted(true, Map.of("TERM", "xterm", "NO_COLOR", "1"))).isFalse();
    assertThat(PlanColours.areWanted(true, Map.of("TERM", "xterm", "NO_COLOR", ""))).isTrue();
  }
}
