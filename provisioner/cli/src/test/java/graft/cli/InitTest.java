package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import graft.cli.terminal.ExitCode;
import graft.common.json.Json;
import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.DescriptorReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** {@code graft init} writes a descriptor that can be planned, and nothing else. */
class InitTest {
  @TempDir Path folder;
  private Path file;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @BeforeEach
  void name() {
    file = folder.resolve("lab.yaml");
  }

  private int init(String... options) {
    String[] args = new String[options.length + 3];
    args[0] = "init";
    args[1] = "--yes";
    System.arraycopy(options, 0, args, 2, options.length);
    args[args.length - 1] = file.toString();
    CommandLine line = Main.commandLine(args);
    return line.setOut(new PrintWriter(out)).setErr(new PrintWriter(err)).execute(args);
  }

  private Descriptor written() throws Exception {
    return DescriptorReader.read(file).descriptor();
  }

  @Test
  void withoutOptionsThereIsOneGuestWithAVGpu() throws Exception {
    assertThat(init()).as(err.toString()).isZero();
    Descriptor lab = written();
    assertThat(lab.deploymentName()).hasToString("lab");
    assertThat(lab.gpus()).hasSize(1);
    assertThat(lab.guests()).hasSize(1);
    assertThat(lab.guests().get(0).vgpus()).hasSize(1);
    assertThat(out.toString()).startsWith("wrote " + file).contains("next: graft plan " + file);
  }

  @Test
  void twoFilesAreTwoDeployments() throws Exception {
    file = folder.resolve("two.yaml");
    assertThat(init()).isZero();
    assertThat(written().deploymentName()).hasToString("two");
    file = folder.resolve("My Lab.yml");
    assertThat(init()).isZero();
    assertThat(written().deploymentName()).hasToString("lab");
  }

  @Test
  void theOptionsAreInTheFile() throws Exception {
    Path image = Files.writeString(folder.resolve("my image.qcow2"), "");
    assertThat(
            init(
                "--name",
                "two",
                "--guests",
                "2",
                "--memory",
                "2GiB",
                "--cpus",
                "3",
                "--gpu",
                "gpu:1",
                "--image",
                image.toString()))
        .as(err.toString())
        .isZero();
    Descriptor two = written();
    assertThat(two.deploymentName()).hasToString("two");
    assertThat(two.gpus().get(0).device()).hasToString("gpu:1");
    assertThat(two.guests())
        .extracting(guest -> guest.name().text())
        .containsExactly("guest-1", "guest-2");
    assertThat(two.guests().get(1).cpus()).isEqualTo(3);
    assertThat(two.guests().get(1).memory()).hasToString("2GiB");
    assertThat(two.guests().get(1).image()).contains(image.toString());
    assertThat(out.toString()).doesNotContain("is missing");
  }

  @Test
  void aMissingImageIsSaidWithTheCommandThatMakesIt() throws Exception {
    assertThat(init("--image", "debian:77", "--output", "json")).isZero();
    var tree = Json.readObject(out.toString());
    assertThat(tree).containsEntry("imageExists", false).containsEntry("image", "debian:77");
    assertThat(tree.get("next").toString()).contains("graft image build debian:77");
  }

  @Test
  void anImageWithoutARecipeIsNotBuilt() throws Exception {
    assertThat(init("--build-image", "--image", "debian:77")).isEqualTo(ExitCode.FAILED);
    assertThat(err.toString()).contains("there is no recipe for 'debian:77'");
    assertThat(written().guests()).as("the descriptor is kept").hasSize(1);
  }

  @Test
  void anExistingFileIsReplacedOnlyByForce() throws Exception {
    Files.writeString(file, "precious");
    assertThat(init()).isEqualTo(ExitCode.FAILED);
    assertThat(err.toString()).contains("there is a file " + file + " already");
    assertThat(file).hasContent("precious");
    assertThat(init("--force")).isZero();
    assertThat(written().guests()).hasSize(1);
  }

  @Test
  void aLinkIsNotFollowed() throws Exception {
    Path other = Files.writeString(folder.resolve("other"), "precious");
    Files.createSymbolicLink(file, other);
    assertThat(init("--force")).isEqualTo(ExitCode.FAILED);
    assertThat(other).hasContent("precious");
  }

  @ParameterizedTest
  @CsvSource({
    "--name,Not A Name",
    "--guests,0",
    "--guests,many",
    "--guests,101",
    "--cpus,none",
    "--memory,1 GB",
    "--gpu,0000:65:00.0",
    "--gpu,fast"
  })
  void aWrongValueIsAWrongCommandLineAndWritesNothing(String option, String value) {
    assertThat(init(option, value)).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString()).contains(option + ": ");
    assertThat(file).doesNotExist();
  }

  @Test
  void anImageIsAValueWhateverIsInItsName() throws Exception {
    String strange = "/images/a\": [x] #\\u0000 'b {c}: & *d";
    assertThat(init("--image", strange)).as(err.toString()).isZero();
    assertThat(written().guests()).hasSize(1);
    assertThat(written().guests().get(0).image()).contains(strange);
    assertThat(init("--force", "--image", "a\nguests: []")).isEqualTo(ExitCode.USAGE);
  }
}
