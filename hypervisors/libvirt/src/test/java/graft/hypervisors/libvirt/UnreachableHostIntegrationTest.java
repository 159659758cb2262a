package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import graft.hypervisors.libvirt.calls.HostUnreachableException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests connections to daemons that do not run. Needs libvirt0. */
@Tag("integration")
class UnreachableHostIntegrationTest {

  @TempDir Path folder;

  @Test
  void namesTheSocketAndWhatToStart() {
    String uri = "qemu+unix:///system?socket=" + folder.resolve("no-sock");
    assertThatExceptionOfType(HostUnreachableException.class)
        .isThrownBy(() -> LibvirtHost.open(uri))
        .withMessageContaining("cannot open " + uri)
        .withMessageContaining("no-sock': No such file or directory")
        .withMessageContaining("systemctl start libvirtd");
  }

  @Test
  void namesAnUnknownDriver() {
    assertThatExceptionOfType(HostUnreachableException.class)
        .isThrownBy(() -> LibvirtHost.open("nosuch:///system"))
        .withMessageContaining("check the URI's driver");
  }

  @Test
  void nothingButTheExceptionReachesTheUser() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Failing.class.getName(),
                "qemu+unix:///system?socket=" + folder.resolve("no-sock"))
            .redirectErrorStream(true)
            .start();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .as("libvirt prints to stderr by itself unless it is told not to")
        .isEqualTo("caught\n");
    assertThat(process.exitValue()).isZero();
  }

  /** A program that fails to connect, to be run as a separate process. */
  static final class Failing {
    private Failing() {}

    public static void main(String[] arguments) {
      try (LibvirtHost host = LibvirtHost.open(arguments[0])) {
        System.out.println("connected to " + host.uri());
      } catch (HostUnreachableException e) {
        System.out.println("caught");
      }
    }
  }
}
