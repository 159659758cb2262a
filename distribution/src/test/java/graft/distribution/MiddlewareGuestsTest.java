package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * The clients of other middleware in small guests, in parallel. A stand-in replaces the vendors'
 * libraries and returns an error from every function: its answer shows that a program finds the
 * library.
 */
@Tag("integration")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class MiddlewareGuestsTest {
  private static final String PROGRAM = "/usr/local/bin/loop";

  /** A profile with the vendor's folder of libraries and the expected output of its programs. */
  private record Client(String name, String libraries, String server, String says) {}

  private static final List<Client> CLIENTS =
      List.of(
          new Client("rcuda", "lib", "gpu-host", "RCUDA_DEVICE_0=gpu-host:0"),
          new Client("gvirtus", "lib/frontend", "10.0.0.7", "GVIRTUS_HOME=/opt/gvirtus"),
          new Client("ds-cuda", "lib", "gpu-host:0", "DSCUDA_SERVER=gpu-host:0"),
          new Client("lupine", ".", "gpu-host:14833", "LUPINE_SERVER=gpu-host:14833"));

  @TempDir Path folder;
  private GuestLab lab;

  @AfterEach
  void takeAway() throws Exception {
    lab.destroy();
  }

  @Test
  void programsFindTheClientOfTheGuestsMiddleware() throws Exception {
    lab = GuestLab.in(folder);
    lab.compileLoop();
    StringBuilder text = new StringBuilder("graft: 1\nname: " + lab.name() + "\nguests:\n");
    for (Client client : CLIENTS) {
      Path libraries = folder.resolve(client.name()).resolve(client.libraries());
      Files.createDirectories(libraries);
      Files.copy(
          Checkout.PROGRAMS.resolve("stubs/libcuda.so.1"), libraries.resolve("libcuda.so.1"));
      text.append(
          """
            - name: %s
              kernel: {image: %s, initramfs: %s, arguments: console=ttyS0 quiet}
              memory: 192MiB
              setup:
                bundles: [{name: %s-client, files: %s, set: ["server=%s"]}]
                files: [{source: loop, path: %s, mode: 0755}]
              ready: {timeout: 5m}
          """
              .formatted(
                  guest(client),
                  GuestLab.small("vmlinuz"),
                  GuestLab.small("initramfs.cpio"),
                  client.name(),
                  client.name(),
                  client.server(),
                  PROGRAM));
    }
    Files.writeString(lab.descriptor(), text);
    lab.graft(0, "apply", lab.descriptor().toString());
    for (Client client : CLIENTS) {
      assertThat(
              lab.inGuest(
                  guest(client),
                  PROGRAM + " 2>&1; . /etc/profile.d/zz-graft.sh; env; " + PROGRAM + " || true"))
          .contains("libcuda.so.1: cannot open shared object file", client.says())
          .endsWith("cuInit 801\n");
    }
    assertThat(lab.graft(0, "apply", lab.descriptor().toString())).contains("nothing to do");
  }

  private String guest(Client client) {
    return lab.name() + "-" + client.name();
  }
}
