package graft.cli.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.remoting.server.system.ListenAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page in a browser. */
class UiPageTest {
  private static final String ATTACK =
      "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>";
  private static final int LIMIT_SECONDS = 120;

  @TempDir Path folder;

  private static Optional<Path> browser() {
    return Stream.of("chromium-headless-shell", "chromium")
        .map(name -> Path.of("/usr/bin", name))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /** The document as the browser has it after the page has shown its data. */
  private String browse(Path browser, Map<String, Object> room) throws Exception {
    UiToken token = UiToken.make();
    try (UiServer server =
        new UiServer(
            new ListenAddress.Tcp("127.0.0.1", 0),
            new UiRequests(Optional.of(token), UiCommand.page(), () -> room),
            Duration.ofSeconds(LIMIT_SECONDS))) {
      int port = ((ListenAddress.Tcp) server.address()).port();
      Path out = folder.resolve("document.html");
      Process process =
          new ProcessBuilder(
                  browser.toString(),
                  "--headless",
                  "--no-sandbox",
                  "--disable-gpu",
                  "--user-data-dir=" + folder.resolve("browser"),
                  "--virtual-time-budget=3000",
                  "--dump-dom",
                  "http://127.0.0.1:" + port + "/#" + token.secret())
              .redirectOutput(out.toFile())
              .redirectError(folder.resolve("errors").toFile())
              .start();
      try {
        assertThat(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).as("it ends").isTrue();
      } finally {
        process.destroyForcibly();
      }
      String document = Files.readString(out, StandardCharsets.UTF_8);
      assertThat(document)
          .as("the token is not left in the document")
          .doesNotContain(token.secret());
      int script = document.indexOf("<script nonce");
      assertThat(script).isPositive();
      return document.substring(0, script); // the page's own script mentions what is looked for
    }
  }

  @Test
  void namesOfAGuestAreTextAndNoScriptRuns() throws Exception {
    Optional<Path> browser = browser();
    assumeTrue(browser.isPresent(), "no Chromium: apt-get install chromium-headless-shell");
    Map<String, Object> room =
        RecordedRoom.tree(
            text ->
                Stream.of("python3", "5f2a9c0d11e37b64", "GPU 0 reported Xid 79", "best-effort")
                    .reduce(text, (changed, name) -> changed.replace(name, ATTACK))
                    .replace("/srv/graft/lab.yaml", ATTACK)
                    .replace("guest old: + start old", ATTACK)
                    .replace("\"lmp\"", "\"\\u202ereversed\""));
    String document = browse(browser.get(), room);
    assertThat(document)
        .contains("<title>Graft: gpu-host-3</title>")
        .contains("&lt;img src=x onerror=document.title='owned'&gt;&lt;script&gt;")
        .doesNotContain("<img", "<script>document", "<title>owned", "\u202e");
    for (String shown :
        List.of(
            "52 % of 50 %", // a share, got of asked
            "6.0 GiB of 8.0 GiB",
            "?reversed",
            ">lab/gpu0<",
            ">shut off<",
            ">damaged<",
            "/srv/graft/comparison/report.html",
            "NVIDIA H100 80GB HBM3")) {
      assertThat(document).contains(shown);
    }
    assertThat(document.split("<table", -1)).as("a table in each section").hasSize(7 + 1);
    assertThat(document).contains("<td>-</td>").doesNotContain("undefined", "NaN", "[object");
  }
}
