package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;

/** {@code graft image build --from}: with a stand-in for QEMU, and once with a real machine. */
@Tag("integration")
final class CloudImageTest {
  @TempDir Path folder;

  private Path image;
  private final Map<String, String> environment = new HashMap<>(System.getenv());

  @BeforeEach
  void anImage() throws Exception {
    image = Files.write(folder.resolve("noble.img"), new byte[1 << 20]);
    environment.put("GRAFT_IMAGE_DIR", folder.resolve("images").toString());
  }

  /** A program in QEMU's place: keeps its seed, and writes this to its serial line. */
  private void machineThatSays(String console, String then) throws Exception {
    Path programs = Files.createDirectories(folder.resolve("bin"));
    Path program = programs.resolve("qemu-system-x86_64");
    Files.writeString(
        program,
        """
        #!/bin/bash
        for word; do
          case $word in
            file:*) log=${word#file:}; printf '%s' >"$log" ;;
            file=*/seed,*) word=${word#file=}; cp "${word%%%%,*}" '%s' ;;
          esac
        done
        %s
        """
            .formatted(console, folder.resolve("seed"), then));
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    environment.put("PATH", programs + ":" + System.getenv("PATH"));
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/mcopy")), "no mtools");
  }

  private Finished build(String... more) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Checkout.HOME.resolve("bin/graft").toString());
    command.addAll(List.of("image", "build", "ubuntu:24.04", "--from", image.toString()));
    command.addAll(List.of(more));
    return Finished.run(folder, environment, command, Duration.ofMinutes(25));
  }

  @Test
  void theMachineInstallsThePackagesAndIsAnImageThen() throws Exception {
    machineThatSays("booting\\r\\ngraft-image: done\\r\\n", "exit 0");

    Finished built = build("--package", "ibverbs-utils");

    assertThat(built.code()).as("%s", built).isZero();
    assertThat(folder.resolve("images/ubuntu-24.04.qcow2")).exists();
    assertThat(folder.resolve("images/ubuntu-24.04.qcow2.sha256")).exists();
    List<String> seed = List.of("mtype", "-i", folder.resolve("seed").toString(), "::user-data");
    assertThat(Finished.run(folder, environment, seed).out())
        .contains("packages:\n  - \"qemu-guest-agent\"\n  - \"ibverbs-utils\"\n")
        .contains("for package in qemu-guest-agent ibverbs-utils; do");
  }

  @Test
  void aMachineThatFailsIsNoImage() throws Exception {
    machineThatSays("graft-image: failed: not installed: nothing-such\\r\\n", "exit 0");

    Finished built = build("--package", "nothing-such");

    assertThat(built.code()).isEqualTo(1);
    assertThat(built.err())
        .contains("failed: not installed: nothing-such")
        .contains("the image 'ubuntu:24.04' could not be built");
    assertThat(folder.resolve("images")).isEmptyDirectory();
  }

  @Test
  void aMachineWithoutEndIsEnded() throws Exception {
    machineThatSays("login:", "exec sleep 1000");
    environment.put("GRAFT_IMAGE_TIMEOUT", "1");

    Finished built = build();

    assertThat(built.code()).isEqualTo(1);
    assertThat(built.err()).contains("has not come to its end within 1 s").contains("login:");
  }

  @Test
  void whatAHostileImagePrintsDoesNotReachTheTerminal() throws Exception {
    machineThatSays("panic \\033]0;owned\\007\\r\\n", "exit 0");

    Finished built = build();

    assertThat(built.code()).isEqualTo(1);
    assertThat(built.err()).contains("panic ]0;owned\n").doesNotContain("\u001b", "\u0007");
  }

  @Test
  void aMachineThatPrintsWithoutEndIsEnded() throws Exception {
    machineThatSays("x", "truncate -s 17M \"$log\"; exec sleep 1000");

    Finished built = build();

    assertThat(built.code()).isEqualTo(1);
    assertThat(built.err()).contains("has printed more than 16777216 bytes");
  }

  @Test
  void whatIsNotTheExpectedFileIsNotBooted() throws Exception {
    machineThatSays("graft-image: done\\n", "exit 0");

    assertThat(build("--sha256", "0".repeat(64)).err()).contains("and not 000");
    assertThat(build("--container").code()).isEqualTo(2);
    image = folder.resolve("missing");
    assertThat(build().err()).contains("there is no file " + image);
    assertThat(folder.resolve("seed")).doesNotExist();
  }

  /** Takes minutes without KVM, and fetches a package. */
  @Test
  @EnabledIfEnvironmentVariable(named = GuestLab.IMAGE, matches = ".+")
  void aDebianBecomesAnImageWithAnotherPackage() throws Exception {
    image = Path.of(GuestLab.image());

    Finished built = build("--package", "hello");

    assertThat(built.code()).as("%s", built).isZero();
    Path lab = folder.resolve("lab.yaml");
    Files.writeString(
        lab,
        """
        graft: 1
        name: from-image
        guests:
          - name: from-image
            image: ubuntu:24.04
            memory: 512MiB
            networks: [user]
        """);
    String graft = Checkout.HOME.resolve("bin/graft").toString();
    environment.put("GRAFT_STATE_DIR", folder.resolve("state").toString());
    try {
      Finished applied =
          Finished.run(
              folder,
              environment,
              List.of(graft, "apply", "--yes", lab.toString()),
              Duration.ofMinutes(10));
      assertThat(applied.code()).as("%s", applied).isZero();
      List<String> command =
          List.of(graft, "exec", lab.toString(), "from-image", "--", "hello", "-g", "from-image");
      assertThat(Finished.run(folder, environment, command).out()).isEqualTo("from-image\n");
    } finally {
      Finished.run(
          folder,
          environment,
          List.of(graft, "destroy", "--yes", "--delete-data", lab.toString()),
          Duration.ofMinutes(5));
    }
  }
}
