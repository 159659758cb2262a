package graft.deployment.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.values.MemorySize;
import graft.common.values.PciAddress;
import graft.deployment.apply.ApplyListener;
import graft.deployment.apply.LiveContext;
import graft.deployment.apply.Steps;
import graft.deployment.journal.Journal;
import graft.deployment.observe.Connections;
import graft.deployment.step.device.AttachInterfaces;
import graft.deployment.step.device.LendFunction;
import graft.deployment.step.guest.StartGuest;
import graft.guests.connection.GuestConnections;
import graft.guests.container.RootFolder;
import graft.guests.container.RootSource;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.domain.Boot;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.GuestMetadata;
import graft.hypervisors.libvirt.domain.HostdevSpec;
import graft.hypervisors.libvirt.domain.Virtualization;
import graft.hypervisors.lxc.LxcHypervisor;
import graft.sriov.fake.FakeDevice;
import graft.sriov.fake.FakeSysfs;
import graft.sriov.vf.HostAccess;
import graft.sriov.vf.TimeLimits;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * A real container with the network interface of an adapter. The adapter is one of the fake host's;
 * its interface is a real veth of the same name, which the kernel deletes, and does not return,
 * when the container ends.
 */
@Tag("integration")
@EnabledIfSystemProperty(named = "user.name", matches = "root")
class ContainerAdapterIntegrationTest {
  private static final String URI = "lxc:///system";

  /** Users of the host that /etc/subuid gives nobody in this test. */
  private static final Boot.IdRange IDS = new Boot.IdRange(0x5f100000L, 65_536);

  private final int bus = 100 + new Random().nextInt(100);
  private final String name = "provtest-net" + UUID.randomUUID().toString().substring(0, 8);
  private final String uuid = UUID.randomUUID().toString();
  private final PciAddress adapter = PciAddress.parse("0000:%02x:00.0".formatted(bus));
  private final String card = "ens" + bus + "f0";
  private final Path node = Path.of("/dev/infiniband/uverbs-" + name);
  private final String sysfs = "/sys/devices/pci0000:00/" + adapter;

  @TempDir Path folder;

  private FakeSysfs fake;
  private boolean hadNodes;

  @AfterEach
  void sweep() throws Exception {
    Files.deleteIfExists(node);
    if (!hadNodes) {
      Files.deleteIfExists(node.getParent());
    }
    if (Files.exists(Path.of("/sys/class/net", card))) {
      run("ip", "link", "delete", card);
    }
  }

  @Test
  void itHasTheInterfaceAndTheNodesWhileItRuns() throws Exception {
    hadNodes = Files.exists(node.getParent());
    Files.createDirectories(node.getParent());
    run("mknod", "-m", "600", node.toString(), "c", "1", "5"); // like /dev/zero
    run("ip", "link", "add", card, "type", "veth", "peer", "name", "peer" + bus);
    fake = new FakeSysfs(Files.createDirectory(folder.resolve("host")));
    fake.add(FakeDevice.mlx5(adapter.toString(), 0).ethernet());
    fake.file(sysfs + "/infiniband_verbs/" + node.getFileName() + "/dev", "1:5");
    try (Connections connections = new Connections();
        Journal journal = Journal.open(folder.resolve("journal"), Steps.CODEC, Clock.systemUTC())) {
      Guest guest =
          connections
              .get(URI)
              .define(new LxcHypervisor().domainXml(spec(), connections.get(URI).capabilities()));
      try {
        HostAccess host = new HostAccess(fake, fake.links(), TimeLimits.DEFAULT);
        runs(guest, new LiveContext(connections, host, journal, ApplyListener.NONE));
      } finally {
        guest.destroy();
        guest.undefine();
      }
    }
  }

  private void runs(Guest guest, LiveContext context) throws Exception {
    LendFunction lend =
        new LendFunction(
            URI, name, "lab", adapter, Optional.empty(), "it", "mlx5_core", folder.resolve("c"));
    AttachInterfaces attach = new AttachInterfaces(URI, name, uuid, List.of(adapter));
    Map<String, Object> before = lend.before(context);
    lend.apply(context);
    attach.apply(context);
    attach.apply(context); // as after a kill
    List<HostdevSpec> both =
        List.of(new HostdevSpec.Interface(card), new HostdevSpec.Node(node.toString()));
    assertThat(guest.definedHostDevices()).containsExactlyInAnyOrderElementsOf(both);
    new StartGuest(URI, name, uuid, folder.resolve("console")).apply(context);
    assertThat(said(guest, "ls /sys/class/net")).contains(card);
    assertThat(Path.of("/sys/class/net", card)).doesNotExist();
    assertThat(said(guest, "head -c 2 " + node + " | od -An -tx1")).contains("00 00");

    assertThatThrownBy(() -> attach.apply(context)).hasMessageContaining("only when it starts");
    fake.deleteFile(sysfs + "/net").deleteFile("/sys/class/net/" + card);
    lend.apply(context); // is not missed, and not made again
    assertThat(fake.list(sysfs + "/net")).isEmpty();
    assertThatThrownBy(() -> lend.undo(context, before))
        .hasMessageContaining("runs with the network interface of " + adapter);

    guest.destroy();
    fake.file(sysfs + "/net/as-it-likes/ifindex", "7"); // the container has renamed it
    attach.apply(context);
    assertThat(guest.definedHostDevices())
        .contains(new HostdevSpec.Interface("as-it-likes"))
        .doesNotContain(new HostdevSpec.Interface(card));
    attach.undo(context, Map.of());
    assertThat(guest.definedHostDevices()).isEmpty();
    lend.undo(context, before);
    assertThat(fake.list(sysfs + "/net")).containsExactly(card);
  }

  private DomainSpec spec() throws Exception {
    Path root = Files.createDirectory(folder.resolve("root"));
    Path source = Path.of("../../examples/built/guest/initramfs.cpio").toAbsolutePath();
    assertThat(source).as("the small guest image; ./graft test builds it").exists();
    new RootFolder(root, IDS).fill(source);
    run("chmod", "755", folder.toString());
    return DomainSpec.named(name)
        .uuid(UUID.fromString(uuid))
        .metadata(GuestMetadata.of("lab"))
        .virtualization(Virtualization.CONTAINER)
        .memory(MemorySize.ofMib(128))
        .boot(
            new Boot.Container(
                root.toString(), RootSource.look(source).orElseThrow().init(), IDS, List.of()))
        .build();
  }

  private static String said(Guest guest, String command) {
    return GuestConnections.of(guest, Optional.empty())
        .run(List.of("/bin/sh", "-c", command), new byte[0], Duration.ofSeconds(60))
        .outputText();
  }

  private static void run(String... words) throws Exception {
    assertThat(new ProcessBuilder(words).inheritIO().start().waitFor()).isZero();
  }
}
