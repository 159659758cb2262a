package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

class ManPagesTest {
  private final CommandLine graft = Main.commandLine();
  private final Map<String, String> pages = ManPages.pages(graft);

  @Test
  void eachCommandHasAPageWithItsHeaderItsOptionsAndItsExamples() {
    List<CommandLine> commands = new ArrayList<>();
    collect(graft, commands);
    assertThat(pages).hasSameSizeAs(commands);
    for (CommandLine command : commands) {
      String name = command.getCommandSpec().qualifiedName("-");
      assertThat(pages).containsKey(name + ".1");
      String page = pages.get(name + ".1").replace("\\-", "-");
      assertThat(page)
          .contains(".SH NAME\n" + name + " - ", ".SH SYNOPSIS")
          .contains(String.join(" ", command.getCommandSpec().usageMessage().header()))
          .doesNotContain("%n", "${");
      for (OptionSpec option : command.getCommandSpec().options()) {
        if (!option.hidden()) {
          assertThat(page).contains(option.names());
        }
      }
      if (command.getUsageMessage().contains("Example")) {
        assertThat(page).containsPattern("\n\\.SH EXAMPLES?\n\\.nf\n  ");
      }
    }
  }

  @Test
  void aSubcommandsPageIsNamedByBothAndLinksToItsParent() {
    assertThat(pages.get("graft-image-build.1")).contains("graft\\-image (1)");
  }

  @Test
  void noLineOfTextIsTakenForARequest() {
    assertThat(pages.values())
        .flatMap(page -> page.lines().filter(line -> line.startsWith(".")).toList())
        .allMatch(line -> line.matches("\\.(TH|SH|TP|nf|fi|ad|ad l|nh|hy|BR)( .*)?"));
  }

  private static void collect(CommandLine line, List<CommandLine> into) {
    into.add(line);
    line.getSubcommands().values().stream()
        .filter(command -> !command.getCommandSpec().usageMessage().hidden())
        .forEach(command -> collect(command, into));
  }
}
