package graft.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.cli.host.ServerAddress;
import graft.cli.terminal.ExitCode;
import graft.common.json.Json;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** The command line from outside: exit codes, where text goes, forms of output. */
class MainTest {
  @TempDir Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int graft(String... args) {
    CommandLine line = Main.commandLine(args);
    return line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err)).execute(args);
  }

  @Test
  void aValidDescriptorEndsWithZero() throws Exception {
    assertThat(graft("validate", write("graft: 1\n"))).isZero();
    assertThat(out.toString()).endsWith("lab.yaml: valid\n");
  }

  @Test
  void anInvalidDescriptorEndsWithThreeAndItsProblemsOnStandardError() throws Exception {
    assertThat(graft("validate", write("graf: 1\n"))).isEqualTo(ExitCode.DESCRIPTOR);
    assertThat(out.toString()).isEmpty();
    assertThat(err.toString())
        .contains("lab.yaml:1:1: unknown key 'graf'")
        .endsWith("2 problems\n");
  }

  @ParameterizedTest
  @CsvSource({
    "stauts, Did you mean status?",
    "aply, Did you mean apply?",
    "nonsense, Try 'graft --help'."
  })
  void aMistypedCommandIsGuessedAlsoBehindHelp(String word, String guess) {
    assertThat(graft(word)).isEqualTo(ExitCode.USAGE);
    assertThat(graft("help", word)).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString().lines().filter(guess::equals)).hasSize(2);
  }

  @Test
  void outputThatCannotBeWrittenIsAFailure() throws Exception {
    String file = write("graft: 1\n");
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    try (OutputStream full = new FileOutputStream("/dev/full")) {
      assertThat(Main.run(full, said, "validate", file)).isEqualTo(ExitCode.FAILED);
    }
    assertThat(said.toString(UTF_8)).contains("output could not be written: No space left");
  }

  @Test
  void aReaderThatHasSeenEnoughIsToldNothing() throws Exception {
    OutputStream closed =
        new OutputStream() {
          @Override
          public void write(int one) throws IOException {
            throw new IOException("Broken pipe");
          }
        };
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    assertThat(Main.run(closed, said, "validate", write("graft: 1\n"))).isEqualTo(ExitCode.FAILED);
    assertThat(said.toString(UTF_8)).isEmpty();
  }

  @Test
  void aDescriptorComesFromStandardInput() throws Exception {
    InputStream before = System.in;
    System.setIn(new ByteArrayInputStream("graft: 1\ngusts: []\n".getBytes(UTF_8)));
    try {
      assertThat(graft("validate", "-")).isEqualTo(ExitCode.DESCRIPTOR);
      assertThat(err.toString()).contains("-:2:1: unknown key 'gusts'");
      System.setIn(new ByteArrayInputStream(new byte[] {(byte) 0xff}));
      assertThat(graft("plan", "-")).isEqualTo(ExitCode.DESCRIPTOR);
      assertThat(err.toString()).contains("-:1:1: standard input is not UTF-8 text");
      System.setIn(new ByteArrayInputStream("graft: 1\nname: a\n".getBytes(UTF_8)));
      assertThat(graft("plan", "--out", folder.resolve("p").toString(), "-"))
          .isEqualTo(ExitCode.FAILED);
      assertThat(err.toString()).contains("a plan of standard input cannot be saved");
    } finally {
      System.setIn(before);
    }
  }

  @Test
  void aPlanForEsxiEndsWithThreeAndSaysWhatCanBeDoneThereAlone() throws Exception {
    String file = write("graft: 1\nlibvirt: esx://root@esx-1/\nguests: [{name: a, vgpu: none}]\n");
    assertThat(graft("plan", file)).isEqualTo(ExitCode.DESCRIPTOR);
    assertThat(err.toString())
        .contains("lab.yaml:2:10: Graft makes no guests on VMware ESXi")
        .contains("existing: {ssh: USER@HOST}")
        .endsWith("1 problem\n");
  }

  @Test
  void linksThatCannotBeMeasuredAreRefused() {
    assertThat(graft("bench", "remoting", "--rate", "1Mbit")).isEqualTo(ExitCode.FAILED);
    assertThat(graft("bench", "remoting", "--", "./train")).isEqualTo(ExitCode.FAILED);
    assertThat(err.toString()).contains("--rate is the rate of a link", "over links only");
    Map<String, String> wrong =
        Map.of(
            "--channel=shm", "one of the channels tcp and tls",
            "--channel=tcp,tls", "one of the channels tcp and tls",
            "--native", "--rtt and --native exclude each other",
            "--data-connections=0", "must be from 1 to 16");
    wrong.forEach(
        (option, why) -> {
          err.getBuffer().setLength(0);
          assertThat(graft("bench", "remoting", "--rtt", "5ms", option)).isEqualTo(ExitCode.FAILED);
          assertThat(err.toString()).as(option).contains(why);
        });
    assertThat(graft("bench", "remoting", "--rtt", "30")).isEqualTo(ExitCode.USAGE);
    assertThat(graft("bench", "remoting", "--rtt", "5ms", "--rate", "0Mbit"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("'30' is not a time", "'0Mbit' is not a rate");
  }

  @Test
  void problemsAreThereForProgramsToo() throws Exception {
    graft("validate", "--output", "json", write("graf: 1\n"));
    assertThat(Json.readObject(out.toString())).containsEntry("valid", false);
    assertThat((List<?>) Json.readObject(out.toString()).get("problems")).hasSize(2);
  }

  @Test
  void everyObjectBeginsWithTheVersionOfItsFields() throws Exception {
    graft("validate", "--output", "json", write("graf: 1\n"));
    graft("bundles", "--output", "json");
    graft("list", "--output", "json");
    graft("console", "--output", "json", folder.resolve("none.yaml").toString(), "alice");
    graft("validate", "--output", "json"); // without its argument
    assertThat(out.toString().lines().filter(line -> line.equals("{")).count()).isEqualTo(5);
    assertThat(out.toString()).containsPattern("(?s)(\\{\n  \"formatVersion\" : 1,.*){5}");
  }

  @Test
  void aWrongCommandLineIsJsonForWhoAsksForJson() throws Exception {
    for (List<String> asked : List.of(List.of("--output=json"), List.of("-o", "json"))) {
      out.getBuffer().setLength(0);
      List<String> words = new ArrayList<>(List.of("no-such-command"));
      words.addAll(asked);
      assertThat(graft(words.toArray(String[]::new))).isEqualTo(ExitCode.USAGE);
      assertThat(Json.readObject(out.toString())).containsEntry("exitCode", (long) ExitCode.USAGE);
    }
    out.getBuffer().setLength(0);
    graft("run", "--no-such-option", "--", "program", "-o", "json");
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void anUnknownCommandEndsWithTwoAndTheNearestOne() {
    assertThat(graft("validat")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("validate");
  }

  @Test
  void anAddressThatIsNoneEndsWithTwoAndTheFormsThatThereAre() {
    assertThat(graft("serve", "--listen", "unix:/x", "--insecure")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString())
        .contains("Invalid value for option '--listen' (ADDRESS): 'unix:/x' is none of tcp://")
        .doesNotContain("Exception");
  }

  @Test
  void aProfilingLibraryThatWorkersCannotLoadEndsAServerBeforeItStarts() {
    assertThat(graft(servingWith("libcupti.so.13"))).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString())
        .contains(
            "Invalid value for option '--profiler-library': 'libcupti.so.13' is not an"
                + " absolute path");
    assertThat(graft(servingWith("/no/such/libcupti.so.13"))).isEqualTo(ExitCode.FAILED);
    assertThat(err.toString())
        .contains("cannot load the profiling library /no/such/libcupti.so.13: there is no such");
  }

  private static String[] servingWith(String library) {
    return ("serve --listen unix:///x --insecure --write-starter-config /no/such/file"
            + " --profiler-library "
            + library)
        .split(" ");
  }

  @Test
  void aProgramRunsOverTheChannelsOfTheClient() {
    for (String url : List.of("shm:///run/x", "rdma://a:1", "ivshmem+vsock://2:1")) {
      assertThat(ServerAddress.parse(url)).hasToString(url);
    }
    for (String url :
        List.of(
            "shm://x",
            "shm:///",
            "tcp://a",
            "http://a:1",
            "shm:///a\nb",
            "vsock://any:1",
            "rdma://a:65536",
            "")) {
      assertThatThrownBy(() -> ServerAddress.parse(url)).hasMessageContaining("is none of tcp://");
    }
    assertThat(graft("run", "--server", "shm://x", "--", "true")).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void aTerminalInAGuestNeedsOneHere() {
    for (List<String> command :
        List.of(
            List.of("exec", "-it", "lab", "alice", "--", "true"),
            List.of("shell", "lab", "alice"))) {
      err.getBuffer().setLength(0);
      assertThat(graft(command.toArray(String[]::new))).isEqualTo(ExitCode.NOT_RUN);
      assertThat(err.toString())
          .contains("the input device is not a TTY", "in scripts use graft exec without -t");
    }
  }

  @Test
  void aTerminalHasNoJson() {
    assertThat(graft("exec", "-t", "-o", "json", "lab", "alice", "--", "true"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(graft("shell", "-o", "json", "lab", "alice")).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains("a terminal has no JSON").doesNotContain("TTY");
  }

  @Test
  void aProgramThatWasNotRunIsNoExitCodeOfAProgram() {
    assertThat(graft("exec", folder.resolve("none.yaml").toString(), "alice", "--", "true"))
        .isEqualTo(ExitCode.NOT_RUN);
    assertThat(graft("run", "--server", "tcp://127.0.0.1:1", "--token-file", "none", "--", "true"))
        .isEqualTo(ExitCode.NOT_RUN);
  }

  @Test
  void everyCommandHasHelpWithAnExample() {
    for (CommandLine command : Main.commandLine().getSubcommands().values()) {
      String help = command.getUsageMessage();
      if (!command.getCommandName().equals("help")) {
        assertThat(help).as(command.getCommandName()).contains("Example").contains("  graft ");
      }
    }
  }

  @Test
  void completionNamesEveryCommand() {
    assertThat(graft("completion")).isZero();
    assertThat(out.toString()).contains("validate").contains("schema");
  }

  @ParameterizedTest
  @CsvSource({
    "graft status l, lab",
    "graft exec --timeout 5s lab b, bob",
    "graft shell lab.yaml '', alice bob",
    "graft revoke lab alice b, bob",
    "graft snapshot create --stop l, lab",
    "graft snapshot restore lab al, alice",
    "graft exec lab bob -- l, ''",
    "graft validate l, ''"
  })
  void completionKnowsDeploymentsAndGuests(String typed, String expected) throws Exception {
    Path lab = Files.createDirectory(folder.resolve("lab"));
    Files.createFile(lab.resolve("journal.jsonl"));
    Files.createFile(lab.resolve("guest-alice.token"));
    Files.createFile(lab.resolve("guest-bob.gpu1.token"));
    graft("completion");
    Path script = Files.writeString(folder.resolve("completion"), out.toString());
    ProcessBuilder bash =
        new ProcessBuilder(
                "bash",
                "-c",
                "compopt() { :; }; source \"$1\"; eval \"COMP_WORDS=($2)\"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1));"
                    + " _graft_with_names graft; echo \"${COMPREPLY[@]}\"",
                "bash",
                script.toString(),
                typed)
            .redirectErrorStream(true);
    bash.environment().put("GRAFT_STATE_DIR", folder.toString());
    String completed = new String(bash.start().getInputStream().readAllBytes(), UTF_8);
    assertThat(completed.strip()).isEqualTo(expected);
  }

  private String write(String text) throws Exception {
    return Files.writeString(folder.resolve("lab.yaml"), text).toString();
  }
}
