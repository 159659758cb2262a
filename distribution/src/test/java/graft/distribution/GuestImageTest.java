package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The small guest image, booted by QEMU alone with an overlay like the one that Graft appends. */
@Tag("integration")
final class GuestImageTest {
  private static final Path IMAGE = Checkout.PROGRAMS.resolve("guest");

  @TempDir Path folder;

  @Test
  void bootsWithAnOverlayFindsItsLibrariesAndRunsItsScripts() throws Exception {
    Path overlay = Files.createDirectories(folder.resolve("overlay"));
    write(overlay, "etc/hostname", "overlaid\n", false);
    write(overlay, "usr/lib/graft/libcuda.so.1", "not read\n", false);
    write(
        overlay,
        "etc/graft/boot.d/10-look",
        """
        #!/bin/sh
        echo "name $(hostname)"
        echo "library $(cat /usr/lib/x86_64-linux-gnu/libcuda.so.1)"
        echo "address $(ip -o -4 addr show dev eth0)"
        poweroff
        """,
        true);
    Path initramfs = folder.resolve("initramfs.cpio");
    Files.copy(IMAGE.resolve("initramfs.cpio"), initramfs);
    shell(overlay, "find . | cpio --quiet -o -H newc >>" + initramfs);

    Path console = folder.resolve("console");
    Process guest =
        new ProcessBuilder(
                List.of(
                    "qemu-system-x86_64",
                    "-accel",
                    "tcg",
                    "-M",
                    "q35",
                    "-m",
                    "192",
                    "-nodefaults",
                    "-display",
                    "none",
                    "-no-reboot",
                    "-serial",
                    "file:" + console,
                    "-netdev",
                    "user,id=net",
                    "-device",
                    "virtio-net-pci,netdev=net,romfile=",
                    "-kernel",
                    IMAGE.resolve("vmlinuz").toString(),
                    "-initrd",
                    initramfs.toString(),
                    "-append",
                    "console=ttyS0 quiet mitigations=off no_timer_check"))
            .inheritIO()
            .start();
    try {
      assertThat(guest.waitFor(120, TimeUnit.SECONDS)).as("the guest powered off").isTrue();
    } finally {
      guest.destroyForcibly();
    }
    assertThat(Files.readString(console, StandardCharsets.ISO_8859_1))
        .contains("name overlaid", "library not read", "inet 10.0.2.15/24", "GRAFT-READY uptime=")
        .doesNotContain("GRAFT-WARNING");
  }

  private static void write(Path root, String name, String text, boolean executable)
      throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
    assertThat(file.toFile().setExecutable(executable)).isTrue();
  }

  private static void shell(Path folder, String line) throws Exception {
    Process process =
        new ProcessBuilder("sh", "-c", line).directory(folder.toFile()).inheritIO().start();
    assertThat(process.waitFor()).isZero();
  }
}
