package graft.provisioner.setup;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;

/** A seed as cloud-init reads it. */
class CloudInitSeedTest {
  @TempDir Path folder;

  private final List<GuestFile> files =
      List.of(
          new GuestFile("/etc/hostname", 0644, "alice\n".getBytes(StandardCharsets.UTF_8)),
          new GuestFile("/etc/graft/token", 0600, "secret\n".getBytes(StandardCharsets.UTF_8)));

  @Test
  void theCloudConfigWritesEachFileWithItsMode() {
    Map<String, Object> config = new Yaml().load(CloudInitSeed.cloudConfig("id-1", "alice", files));
    assertThat(config).containsEntry("hostname", "alice").containsKey("runcmd");
    assertThat((List<?>) config.get("write_files"))
        .singleElement()
        .satisfies(
            file ->
                assertThat((Map<?, ?>) file)
                    .extracting("path", "permissions", "encoding", "owner")
                    .containsExactly("/etc/graft/token", "0600", "gz+b64", "root:root"));
  }

  @Test
  @EnabledIf("hasXorriso")
  void theImageHoldsTheFilesUnderTheirJolietNames() throws Exception {
    Path image = folder.resolve("seed.iso");
    Files.write(image, CloudInitSeed.image("id-1", "alice", files, Optional.of("#cloud-config\n")));
    String file =
        "stdio:" + image; // the folder may be in /dev/shm, and xorriso takes /dev for drives
    assertThat(run("xorriso", "-indev", file, "-pvd_info")).contains("Volume Id    : cidata");
    run(
        "xorriso",
        "-read_fs",
        "norock",
        "-osirrox",
        "on",
        "-indev",
        file,
        "-extract",
        "/",
        folder.resolve("out").toString());
    assertThat(folder.resolve("out/meta-data")).content().contains("instance-id: id-1");
    assertThat(folder.resolve("out/user-data")).content().contains("multipart/mixed");
    assertThat(folder.resolve("out/network-config")).content().contains("dhcp4: true");
  }

  private static String run(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(output).isZero();
    return output;
  }

  static boolean hasXorriso() {
    return Files.isExecutable(Path.of("/usr/bin/xorriso"));
  }
}
