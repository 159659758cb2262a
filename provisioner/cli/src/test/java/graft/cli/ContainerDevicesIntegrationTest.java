package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.values.MemorySize;
import graft.guests.connection.Ended;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.GuestConnections;
import graft.guests.container.RootFolder;
import graft.guests.container.RootSource;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.LibvirtHost;
import graft.hypervisors.libvirt.domain.Boot;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.HostdevSpec;
import graft.hypervisors.libvirt.domain.Virtualization;
import graft.hypervisors.lxc.LxcHypervisor;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** A real container with what it would have for a GPU: a device node, and a file of the host's. */
@Tag("integration")
@EnabledIfSystemProperty(named = "user.name", matches = "root")
class ContainerDevicesIntegrationTest {
  private static final String NAME = RealHost.unique("provtest-dev");
  private static final String LIBRARY = "/usr/lib/x86_64-linux-gnu/libgpu.so.1";

  /** A device of the kernel's that every host has, at a path that no container has by itself. */
  private static final String NODE = "/dev/" + NAME;

  /** Users of the host that /etc/subuid gives nobody in this test. */
  private static final Boot.IdRange IDS = new Boot.IdRange(0x5f000000L, 65_536);

  @TempDir Path folder;

  @Test
  void itUsesTheNodeAndReadsTheFileAndCanReachNoOther() throws Exception {
    run("mknod", "-m", "640", NODE, "c", "1", "5"); // like /dev/zero
    try (LibvirtHost host = LibvirtHost.open("lxc:///system")) {
      Guest guest = host.define(new LxcHypervisor().domainXml(spec(), host.capabilities()));
      try {
        guest.start();
        inside(GuestConnections.of(guest, Optional.empty()));
      } finally {
        guest.destroy();
        guest.undefine();
      }
    } finally {
      Files.delete(Path.of(NODE));
    }
    assertThat(folder.resolve("libgpu.so.9.9")).hasContent("of the host");
  }

  private DomainSpec spec() throws Exception {
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path library = Files.writeString(folder.resolve("libgpu.so.9.9"), "of the host");
    Path root = Files.createDirectory(folder.resolve("root"));
    Path source = RealHost.initramfs();
    new RootFolder(root, IDS).fill(source);
    return DomainSpec.named(NAME)
        .virtualization(Virtualization.CONTAINER)
        .memory(MemorySize.ofMib(128))
        .boot(
            new Boot.Container(
                root.toString(),
                RootSource.look(source).orElseThrow().init(),
                IDS,
                List.of(new Boot.SharedFolder(library.toString(), LIBRARY))))
        .hostdev(new HostdevSpec.Node(NODE))
        .build();
  }

  private static void inside(GuestConnection guest) {
    assertThat(said(guest, "head -c 4 " + NODE + " | od -An -tx1")).contains("00 00 00 00");
    assertThat(said(guest, "stat -c '%a %u' " + NODE)).isEqualTo("700 0");
    assertThat(said(guest, "cat " + LIBRARY)).isEqualTo("of the host");
    assertThat(
            said(
                guest,
                "mount -o remount,rw,bind "
                    + LIBRARY
                    + " 2>&1; echo mine >"
                    + LIBRARY
                    + " || echo kept"))
        .contains("kept");
    assertThat(said(guest, "mknod /tmp/memory c 1 1 2>&1 || echo refused")).contains("refused");
  }

  private static String said(GuestConnection guest, String command) {
    Ended ended =
        guest.run(
            List.of("/bin/sh", "-c", "{ " + command + "; } 2>&1"),
            new byte[0],
            Duration.ofSeconds(60));
    return ended.outputText().strip();
  }

  private static void run(String... words) throws Exception {
    Process process = new ProcessBuilder(words).inheritIO().start();
    assertThat(process.waitFor()).isZero();
    assertThat(Files.exists(Path.of(NODE), LinkOption.NOFOLLOW_LINKS)).isTrue();
  }
}
