package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The manual pages in the distribution. */
final class ManPagesTest {
  private static final Pattern COMMAND = Pattern.compile("(?m)^  ([a-z]+) ");

  @Test
  void eachCommandThatHelpListsHasAPage() throws Exception {
    String graft = Checkout.HOME.resolve("bin/graft").toString();
    Finished help =
        Finished.run(Checkout.ROOT, Map.of("PATH", "/usr/bin:/bin"), List.of(graft, "--help"));
    String listed =
        help.out().substring(help.out().indexOf("Commands:"), help.out().indexOf("Examples:"));
    List<String> commands =
        COMMAND.matcher(listed).results().map(MatchResult::group).map(String::strip).toList();
    assertThat(commands).contains("plan", "apply", "serve");
    Path pages = Checkout.HOME.resolve("share/man/man1");
    assertThat(pages.resolve("graft.1")).exists();
    for (String command : commands) {
      Path page = pages.resolve("graft-" + command + ".1");
      assertThat(page).exists();
      assertThat(Files.readString(page)).contains(".SH NAME\ngraft-" + command + " ");
    }
  }
}
