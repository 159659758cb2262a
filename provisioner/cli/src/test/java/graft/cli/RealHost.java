package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.program.CurrentUser;
import graft.deployment.state.ServerProcess;
import graft.hypervisors.libvirt.LibvirtHost;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What the integration tests need of the machine, and how they see that nothing was left on it. */
final class RealHost {
  /** Made by ./graft test. */
  private static final Path GUEST =
      Path.of("../../examples/built/guest").toAbsolutePath().normalize();

  private RealHost() {}

  /** A name that no other run of the tests on this machine has. */
  static String unique(String name) {
    return name + "-" + java.util.UUID.randomUUID().toString().substring(0, 8);
  }

  static String uri() {
    return CurrentUser.isRoot() ? "qemu:///system" : "qemu:///session";
  }

  static Path kernel() {
    return file("vmlinuz");
  }

  static Path initramfs() {
    return file("initramfs.cpio");
  }

  private static Path file(String name) {
    Path file = GUEST.resolve(name);
    assertThat(file).as("the small guest image; ./graft test builds it").exists();
    return file;
  }

  /** Nothing of a deployment is left: no guest, no file, no server. */
  static void assertNothingLeft(GraftProcess graft, String deployment, String... guests) {
    try (LibvirtHost host = LibvirtHost.open(uri())) {
      assertThat(host.guests().stream().map(g -> g.name())).doesNotContain(guests);
    }
    assertThat(graft.state(deployment)).doesNotExist();
    assertThat(Path.of("/var/lib/libvirt/images/graft", deployment)).doesNotExist();
    for (String guest : guests) {
      assertThat(region(deployment, guest)).doesNotExist();
    }
    Path pidFile = graft.state(deployment).resolve("gpu-gpu0.pid");
    assertThat(ServerProcess.find(pidFile)).as("the server's process").isEmpty();
  }

  /** The memory that a guest shares with the server. */
  static Path region(String deployment, String guest) {
    return Path.of("/dev/shm", "graft." + deployment + "." + guest);
  }

  /** Ends and removes guests that a failed test left. */
  static void sweep(String... guests) {
    try (LibvirtHost host = LibvirtHost.open(uri())) {
      for (String name : guests) {
        host.guest(name)
            .ifPresent(
                guest -> {
                  guest.destroy();
                  guest.undefine();
                });
      }
    }
  }

  static String descriptor(Path folder, String text) throws Exception {
    Path file = folder.resolve("lab.yaml");
    Files.write(file, List.of(text));
    return file.toString();
  }
}
