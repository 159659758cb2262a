package graft.sriov.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.values.PciAddress;
import graft.sriov.host.HostPci;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RootFolderTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  @TempDir private Path root;

  @Test
  void aWriteReplacesTheValueAndDoesNotMakeFiles() throws IOException {
    Files.createDirectories(root.resolve("sys"));
    Files.writeString(root.resolve("sys/numvfs"), "0\n");
    RootFolder files = new RootFolder(root);

    files.write("/sys/numvfs", "4", LIMIT);

    assertThat(files.read("/sys/numvfs")).contains("4");
    assertThatThrownBy(() -> files.write("/sys/none", "4", LIMIT))
        .isInstanceOfSatisfying(
            WriteFailedException.class,
            failure -> assertThat(failure.errno()).isEqualTo(Errno.ENOENT))
        .hasMessageContaining("/sys/none");
    assertThat(files.exists("/sys/none")).isFalse();
  }

  @Test
  void theKernelsErrorComesBackAsItsNumber() {
    // /dev/full fails every write with the kernel's own error.
    RootFolder files = RootFolder.thisHost();
    assertThatThrownBy(() -> files.write("/dev/full", "1", LIMIT))
        .isInstanceOfSatisfying(
            WriteFailedException.class,
            failure -> assertThat(failure.errno()).isEqualTo(Errno.ENOSPC));
  }

  @Test
  void aWriteThatHangsEndsWithTheLimitAndSaysWhereItWaits() throws Exception {
    // Opening a pipe that has no reader blocks in the kernel, as a hanging driver does.
    Path pipe = root.resolve("unbind");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    RootFolder files = new RootFolder(root);
    long before = System.nanoTime();

    assertThatThrownBy(() -> files.write("/unbind", "0000:41:00.0", Duration.ofMillis(300)))
        .isInstanceOf(WriteHangsException.class)
        .hasMessageContaining("300 ms")
        .hasMessageContaining("process ");

    assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(10));
  }

  @Test
  void ordinaryFilesAreReplacedWholeAndRemoved() {
    RootFolder files = new RootFolder(root);
    files.store("/etc/modprobe.d/graft.conf", "options a b=1\n");
    files.store("/etc/modprobe.d/graft.conf", "options a b=2\n");
    assertThat(files.list("/etc/modprobe.d")).containsExactly("graft.conf");
    assertThat(files.read("/etc/modprobe.d/graft.conf")).contains("options a b=2");
    files.remove("/etc/modprobe.d/graft.conf");
    files.remove("/etc/modprobe.d/graft.conf");
    assertThat(files.exists("/etc/modprobe.d/graft.conf")).isFalse();
  }

  @Test
  void everyPciDeviceOfThisHostIsInItsPicture() {
    RootFolder files = RootFolder.thisHost();
    assertThat(HostPci.read(files).devices().keySet())
        .extracting(PciAddress::toString)
        .containsExactlyInAnyOrderElementsOf(files.list(PciPaths.DEVICES));
  }
}
