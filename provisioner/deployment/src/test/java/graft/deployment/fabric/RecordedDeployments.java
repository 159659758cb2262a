package graft.deployment.fabric;

import graft.common.values.Endpoint;
import graft.common.values.MemorySize;
import graft.common.values.PciAddress;
import graft.common.values.TimeSpan;
import graft.common.values.UserName;
import graft.deployment.descriptor.gpu.PortName;
import graft.deployment.observe.HostFacts.PageGrants;
import graft.deployment.step.Step;
import graft.deployment.step.device.AttachDevice;
import graft.deployment.step.guest.AwaitGuest;
import graft.deployment.step.guest.BuildInitramfs;
import graft.deployment.step.guest.BuildSeed;
import graft.deployment.step.guest.CheckBundle;
import graft.deployment.step.guest.CopyFile;
import graft.deployment.step.guest.CreateDisk;
import graft.deployment.step.guest.DefineGuest;
import graft.deployment.step.guest.GrantAccess;
import graft.deployment.step.guest.InstallByAgent;
import graft.deployment.step.guest.InstallBySsh;
import graft.deployment.step.guest.InstallIntoImage;
import graft.deployment.step.guest.MakeFolder;
import graft.deployment.step.guest.MakeRegion;
import graft.deployment.step.guest.MakeSshKeys;
import graft.deployment.step.guest.MakeToken;
import graft.deployment.step.guest.OrderChannels;
import graft.deployment.step.guest.ShareTokens;
import graft.deployment.step.guest.StartGuest;
import graft.deployment.step.guest.VerifyCuda;
import graft.deployment.step.host.DefineNetwork;
import graft.deployment.step.host.RaiseGrantLimit;
import graft.deployment.step.host.StartNetwork;
import graft.deployment.step.host.StartServer;
import graft.guests.connection.SshLogin;
import graft.guests.payload.FileStamp;
import graft.guests.payload.Payload;
import graft.guests.payload.PayloadFile;
import graft.sriov.Guid;
import graft.sriov.VfSettings;
import graft.sriov.fake.FakeDevice;
import graft.sriov.files.PciPaths;
import graft.sriov.operation.BindDriver;
import graft.sriov.operation.ConfigureVf;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The hosts and descriptors of the state folders in {@code state-before-ids}, which the last
 * version wrote that named steps by their classes. Together they hold a step of every kind.
 */
final class RecordedDeployments {
  /** Stands in the recorded files for the folder that a test works in. */
  static final String PLACEHOLDER = "@FOLDER@";

  static final String MEDIATED = "6f4f4f4f-0000-0000-0000-000000000001";
  static final String GUEST_UUID = "6f4f4f4f-0000-0000-0000-000000000002";
  static final String URI = "test:///default";

  /** A guest with a virtual function, a whole GPU, a mediated device and a vGPU. */
  static final String DEVICES =
      """
      graft: 1
      name: lab
      fabric:
        persistent: true
        adapters:
          - {name: ib0, device: mlx5_3b_0, vfs: 2, policy: up}
      gpus: [{name: a100, owner: "guest:alice", device: "0000:65:00.0"}]
      guests:
        - name: alice
          image: debian.qcow2
          memory: 1GiB
          setup: none
          vfs: [{adapter: ib0}]
          passthrough:
            - {mdev: 6f4f4f4f-0000-0000-0000-000000000001, of: "0000:67:00.0", type: nvidia-474}
            - {pci: "0000:66:00.1", type: "557"}
          placement: {huge-pages: 2MiB}
      """;

  /** An adapter whose module makes the functions. */
  static final String MODULE =
      """
      graft: 1
      name: lab
      fabric:
        persistent: false
        adapters:
          - {name: ib0, device: mlx4_5_0, vfs: 2, link: infiniband}
      """;

  private RecordedDeployments() {}

  /** The host of {@link #DEVICES}, as it was before. */
  static DeviceHost devices(Path folder) {
    DeviceHost host = new DeviceHost(folder);
    host.fake
        .node(0, "0-7", 65536)
        .node(1, "8-15", 65536)
        .file("/run/systemd/system/x", "")
        .add(FakeDevice.mlx5("0000:3b:00.0", 8).numa(0))
        .add(FakeDevice.gpu("0000:65:00.0").numa(1).group(20))
        .add(FakeDevice.at("0000:65:00.1").ids(0x10de, 0x10f0).pciClass(0x040300).group(20))
        .add(FakeDevice.gpu("0000:67:00.0").numa(1).group(22));
    String types = "/sys/bus/pci/devices/0000:67:00.0/mdev_supported_types/nvidia-474/";
    host.fake.file(types + "available_instances", "4").file(types + "create", "");
    host.gpuFunction("66", "0");
    // One function that is there already, with a GUID, and that the host's own driver has.
    PciAddress pf = PciAddress.parse("0000:3b:00.0");
    host.fake.write(PciPaths.device(pf, "sriov_drivers_autoprobe"), "0", Duration.ofSeconds(1));
    host.fake.write(PciPaths.device(pf, "sriov_numvfs"), "1", Duration.ofSeconds(1));
    Guid guid = new Guid(0x0600_0000_0000_0001L);
    new ConfigureVf(pf, 0, VfSettings.NONE.withGuids(guid, guid), VfSettings.NONE)
        .apply(host.access);
    BindDriver.to(pf.plus(1), "mlx5_core").apply(host.access);
    host.fake.write(PciPaths.device(pf, "sriov_drivers_autoprobe"), "1", Duration.ofSeconds(1));
    return host;
  }

  /** The host of {@link #MODULE}, as it was before. */
  static DeviceHost module(Path folder) {
    DeviceHost host = new DeviceHost(folder);
    host.fake.add(FakeDevice.mlx4("0000:05:00.0", 8)).reloadMlx4();
    return host;
  }

  /** The host of {@link #others}, as it was before. */
  static DeviceHost others(Path folder) {
    DeviceHost host = new DeviceHost(folder);
    host.fake.file(PageGrants.LIMIT, "1024");
    return host;
  }

  /** Steps of all kinds that are about no device of the host, in their order. */
  static List<Step> others(Path folder, String uri) {
    Path state = folder.resolve("state/lab");
    Path guest = state.resolve("guests/alice");
    Path disk = guest.resolve("disk.qcow2");
    Path tokens = state.resolve("gpu-gpu0.tokens");
    Path token = state.resolve("guest-alice.token");
    Path keys = state.resolve("guest-alice.ssh");
    FileStamp image = new FileStamp(folder.resolve("debian.qcow2"), 10, 20);
    Optional<SshLogin> ssh =
        Optional.of(
            new SshLogin(
                UserName.ROOT,
                Optional.empty(),
                22,
                Optional.of(keys.resolve("key")),
                keys.resolve("known-hosts")));
    TimeSpan minute = new TimeSpan(60);
    Payload payload =
        new Payload(
            "alice",
            List.of(
                PayloadFile.of(image, "/usr/lib/lib", 0644),
                PayloadFile.text("text\n", "/etc/text", 0600).inGroup("video"),
                PayloadFile.secret(token, "/etc/graft/token", 0640)),
            List.of("numactl"),
            List.of("A=b"),
            List.of("a.service"));
    Path console = guest.resolve("console.log");
    List<Step> steps = new ArrayList<>();
    steps.add(new RaiseGrantLimit("lab", folder.resolve("state/.granted-pages")));
    steps.add(new DefineNetwork(uri, "graft-lab", "a network", NETWORK_XML));
    steps.add(new StartNetwork(uri, "graft-lab"));
    steps.add(
        new StartServer(
            "gpu0",
            List.of(Endpoint.tcp("127.0.0.1", 7799), Endpoint.unix("/run/x")),
            "software",
            Optional.of(MemorySize.parse("512MiB")),
            1,
            List.of(PortName.parse("mlx5_0:1"), PortName.parse("02:00:00:00:00:01")),
            tokens,
            state.resolve("gpu-gpu0.pid"),
            state.resolve("gpu-gpu0.log"),
            List.of()));
    steps.add(new MakeToken("alice", token, Optional.empty()));
    steps.add(new GrantAccess("alice", "gpu0", token, tokens, "memory=1073741824"));
    steps.add(new MakeSshKeys("alice", keys));
    steps.add(new MakeFolder("alice", guest, 0));
    steps.add(
        new MakeRegion(
            uri, "alice", folder.resolve("region"), MemorySize.parse("64KiB"), Optional.empty()));
    steps.add(new CopyFile("alice", "kernel", image, guest.resolve("kernel")));
    steps.add(new BuildInitramfs("alice", image, payload, guest.resolve("initramfs")));
    steps.add(
        new BuildSeed(
            "alice",
            "first",
            payload,
            Optional.of(image),
            Optional.of(keys.resolve("key")),
            guest.resolve("seed.iso")));
    steps.add(
        new CreateDisk(
            "alice",
            "disk",
            Optional.of(image),
            "qcow2",
            Optional.of(MemorySize.parse("2GiB")),
            disk));
    steps.add(new InstallIntoImage("carol", payload, disk, true));
    steps.add(new DefineGuest(uri, "alice", GUEST_UUID, "a guest", GUEST_XML));
    steps.add(new AttachDevice(uri, "alice", GUEST_UUID, "0000:65:00.0", Optional.of(true)));
    steps.add(new StartGuest(uri, "alice", GUEST_UUID, console));
    steps.add(new AwaitGuest(uri, "alice", GUEST_UUID, "up", "ready", true, ssh, minute, console));
    steps.add(new InstallByAgent(uri, "bob", GUEST_UUID, payload, Optional.of("first"), minute));
    steps.add(
        new InstallBySsh(
            uri, "alice", GUEST_UUID, ssh.get(), payload, Path.of("/opt/playbooks"), minute));
    steps.add(
        new ShareTokens(
            uri, "alice", GUEST_UUID, ssh, "gpu0", tokens, List.of("bob", "carol"), minute));
    steps.add(new CheckBundle(uri, "alice", GUEST_UUID, ssh, "pytorch", "python3 -c pass", minute));
    steps.add(
        new OrderChannels(
            uri, "alice", GUEST_UUID, ssh, List.of("tcp://a:1"), List.of("shm"), "measured"));
    steps.add(new VerifyCuda(uri, "alice", GUEST_UUID, ssh, true, minute));
    return steps;
  }

  static final String NETWORK_XML = "<network><name>graft-lab</name></network>";

  static final String GUEST_XML =
      "<domain type='test'><name>alice</name><uuid>"
          + GUEST_UUID
          + "</uuid><memory unit='MiB'>64</memory><os><type>hvm</type></os></domain>";
}
