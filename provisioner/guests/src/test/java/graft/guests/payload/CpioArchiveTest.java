package graft.guests.payload;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/** An archive as cpio itself reads it. */
class CpioArchiveTest {
  private final List<GuestFile> files =
      List.of(
          new GuestFile("/etc/graft/token", 0600, Content.of("secret\n")),
          new GuestFile("/root/run", 0755, Content.of(new byte[5])));

  @Test
  void itsLengthIsAMultipleOfFourAndItEndsWithTheTrailer() throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    long written = CpioArchive.write(out, files);
    assertThat(written).isEqualTo(out.size());
    assertThat(written % 4).isZero();
    String text = out.toString(StandardCharsets.ISO_8859_1);
    assertThat(text).startsWith("070701").contains("TRAILER!!!");
  }

  @Test
  @EnabledIf("hasCpio")
  void cpioListsItsFoldersAndFilesWithTheirModes() throws Exception {
    Process cpio = new ProcessBuilder("cpio", "-tv", "--quiet").redirectErrorStream(true).start();
    CpioArchive.write(cpio.getOutputStream(), files);
    cpio.getOutputStream().close();
    String listed = new String(cpio.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(cpio.waitFor(10, TimeUnit.SECONDS)).isTrue();
    assertThat(listed.lines().map(line -> line.substring(0, 10) + " " + line.replaceAll(".* ", "")))
        .containsExactly(
            "drwxr-xr-x etc",
            "drwxr-xr-x etc/graft",
            "drwx------ root",
            "-rw------- etc/graft/token",
            "-rwxr-xr-x root/run");
  }

  static boolean hasCpio() {
    return java.nio.file.Files.isExecutable(java.nio.file.Path.of("/usr/bin/cpio"));
  }
}
