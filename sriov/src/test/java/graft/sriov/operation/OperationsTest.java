package graft.sriov.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.values.PciAddress;
import graft.sriov.Guid;
import graft.sriov.HostException;
import graft.sriov.RefusedException;
import graft.sriov.StubDriver;
import graft.sriov.VfPolicy;
import graft.sriov.VfSettings;
import graft.sriov.fake.FakeDevice;
import graft.sriov.fake.FakeSysfs;
import graft.sriov.files.Errno;
import graft.sriov.files.WriteFailedException;
import graft.sriov.files.WriteHangsException;
import graft.sriov.host.HostPci;
import graft.sriov.host.SriovCapability;
import graft.sriov.vf.HostAccess;
import graft.sriov.vf.TimeLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OperationsTest {
  private static final PciAddress PF = PciAddress.parse("0000:3b:00.0");
  private static final PciAddress VF0 = PF.plus(1);
  private static final PciAddress GPU = PciAddress.parse("0000:41:00.0");
  private static final String DEVICES = "/sys/bus/pci/devices/";
  private static final String DRIVERS = "/sys/bus/pci/drivers/";
  private static final Guid GUID = Guid.parse("02:00:00:00:00:00:00:05");

  @TempDir private Path root;
  private FakeSysfs fake;
  private HostAccess host;

  @BeforeEach
  void host() {
    fake =
        new FakeSysfs(root)
            .loadDriver("vfio-pci")
            .add(FakeDevice.mlx5("0000:3b:00.0", 8))
            .add(FakeDevice.gpu("0000:41:00.0"));
    host = new HostAccess(fake, fake.links(), TimeLimits.DEFAULT);
  }

  private SriovCapability capability() {
    return HostPci.read(fake).device(PF).orElseThrow().sriov().orElseThrow();
  }

  // The number of VFs

  @Test
  void aNumberOfVfsIsWrittenOnceAndTheSameNumberNotAtAll() {
    SetVfCount operation = new SetVfCount(PF, 4);
    assertThat(operation.describe()).isEqualTo("0000:3b:00.0: 4 virtual functions");
    assertThat(operation.isDone(host)).isFalse();

    operation.apply(host);
    operation.apply(host);

    assertThat(fake.takeLog()).containsExactly(DEVICES + PF + "/sriov_numvfs = 4");
    assertThat(operation.isDone(host)).isTrue();
    assertThat(capability().vfs()).hasSize(4);
  }

  @Test
  void oneNumberBecomesAnotherThroughZero() {
    new SetVfCount(PF, 4).apply(host);
    fake.takeLog();

    new SetVfCount(PF, 6).apply(host);

    assertThat(fake.takeLog())
        .containsExactly(DEVICES + PF + "/sriov_numvfs = 0", DEVICES + PF + "/sriov_numvfs = 6");
  }

  @Test
  void theKernelItselfRefusesOneNumberAfterAnother() {
    new SetVfCount(PF, 4).apply(host);
    assertThatThrownBy(() -> fake.write(DEVICES + PF + "/sriov_numvfs", "6", Duration.ofSeconds(1)))
        .isInstanceOfSatisfying(
            WriteFailedException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY));
  }

  @Test
  void theNumberStaysWhileAGuestHasAVf() {
    new SetVfCount(PF, 4).apply(host);
    BindDriver.toVfio(VF0).apply(host);
    SortedMap<String, String> before = fake.state();

    assertThatThrownBy(() -> new SetVfCount(PF, 2).apply(host))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining(VF0.toString())
        .hasMessageContaining("vfio-pci");
    assertThat(fake.state()).isEqualTo(before);
  }

  @Test
  void theNumberStaysWhileAProcessHasAVfOpen() {
    new SetVfCount(PF, 2).apply(host);
    fake.file(DEVICES + VF0 + "/infiniband_verbs/uverbs1/ibdev", "mlx5_1")
        .process(77, "ib_write_bw", "/dev/infiniband/uverbs1");

    assertThatThrownBy(() -> new SetVfCount(PF, 0).apply(host))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("ib_write_bw (process 77");
    assertThat(capability().numVfs()).isEqualTo(2);
  }

  @Test
  void takingBackANumberRestoresGuidsAndDriversOfTheVfsThatWereThere() {
    new SetVfCount(PF, 2).apply(host);
    configure(0, VfSettings.NONE.withGuids(GUID, GUID).withPolicy(VfPolicy.UP)).apply(host);
    BindDriver.toNothing(PF.plus(2), Optional.of("vfio-pci")).apply(host);
    BindDriver.toNothing(VF0, Optional.empty()).apply(host);
    BindDriver.to(VF0, "mlx5_core").apply(host);
    SortedMap<String, String> first = fake.state();

    SetVfCount operation = new SetVfCount(PF, 5);
    Map<String, Object> before = operation.before(host);
    operation.apply(host);
    configure(0, VfSettings.NONE.withGuids(new Guid(0x42), new Guid(0x42))).apply(host);
    operation.undo(host, before);

    assertThat(operation.describeUndo(before))
        .isEqualTo("0000:3b:00.0: back to 2 VFs as they were");
    assertThat(fake.state()).isEqualTo(first);
    fake.takeLog();
    operation.undo(host, before);
    assertThat(fake.takeLog()).as("a second time does nothing").isEmpty();
  }

  @Test
  void guidsThatTheDriverDoesNotKnowComeFromTheJournal() {
    new SetVfCount(PF, 1).apply(host);
    VfSettings known = VfSettings.NONE.withGuids(GUID, GUID);
    SetVfCount operation = new SetVfCount(PF, 3, Map.of(0, known));

    Map<String, Object> before = operation.before(host);
    operation.apply(host);
    operation.undo(host, before);

    assertThat(host.links().read(HostPci.read(fake).device(PF).get().interfaces().get(0)))
        .containsExactly(known.withPolicy(VfPolicy.FOLLOW));
  }

  @Test
  void whatTheFirmwareDoesNotAllowIsTheKernelsError() {
    assertThatThrownBy(() -> new SetVfCount(PF, 9).apply(host))
        .isInstanceOfSatisfying(
            WriteFailedException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ERANGE));
    assertThatThrownBy(() -> new SetVfCount(GPU, 1).apply(host))
        .isInstanceOf(HostException.class)
        .hasMessageContaining("no SR-IOV capability");
  }

  // Autoprobe

  @Test
  void withAutoprobeOffNoDriverTakesNewVfs() {
    SetAutoprobe operation = new SetAutoprobe(PF, false);
    Map<String, Object> before = operation.before(host);
    operation.apply(host);
    new SetVfCount(PF, 1).apply(host);

    assertThat(HostPci.read(fake).device(VF0).orElseThrow().driver()).isEmpty();
    operation.undo(host, before);
    assertThat(capability().autoprobe()).isTrue();
  }

  // Settings

  @Test
  void settingsGoByNetlinkInTheOrderNodePortPolicyAndOnlyWhatDiffers() {
    new SetVfCount(PF, 1).apply(host);
    fake.takeLog();

    ConfigureVf operation =
        configure(0, VfSettings.NONE.withGuids(GUID, GUID).withPolicy(VfPolicy.FOLLOW));
    operation.apply(host);

    assertThat(fake.takeLog())
        .as("the policy is so already")
        .containsExactly(
            "netlink ibp59s0f0 vf 0 node = " + GUID, "netlink ibp59s0f0 vf 0 port = " + GUID);
    assertThat(operation.isDone(host)).isTrue();
    operation.apply(host);
    assertThat(fake.takeLog()).isEmpty();
  }

  @Test
  void anUnknownVfIsAnErrorAndOneThatIsGoneNeedsNoUndo() {
    assertThatThrownBy(() -> configure(0, VfSettings.NONE.withGuids(GUID, GUID)).apply(host))
        .isInstanceOf(HostException.class)
        .hasMessageContaining("there is no VF 0");
    new SetVfCount(PF, 1).apply(host);
    ConfigureVf operation = configure(0, VfSettings.NONE.withGuids(GUID, GUID));
    Map<String, Object> before = operation.before(host);
    new SetVfCount(PF, 0).apply(host);
    fake.takeLog();
    operation.undo(host, before);
    assertThat(fake.takeLog()).isEmpty();
  }

  @Test
  void withoutAnInterfaceTheErrorSaysWhatToLoad() {
    new SetVfCount(PF, 1).apply(host);
    fake.deleteFile("/sys/bus/pci/devices/" + PF + "/net/ibp59s0f0")
        .deleteFile("/sys/bus/pci/devices/" + PF + "/net");
    assertThatThrownBy(() -> configure(0, VfSettings.NONE.withGuids(GUID, GUID)).apply(host))
        .isInstanceOf(HostException.class)
        .hasMessageContaining("ib_ipoib");
  }

  @Test
  void aDriverSeesNewGuidsWhenItIsBoundAgain() {
    new SetVfCount(PF, 1).apply(host);
    configure(0, VfSettings.NONE.withGuids(GUID, GUID)).apply(host);
    assertThat(HostPci.read(fake).rdmaOf(VF0).get(0).nodeGuid()).isEmpty();

    BindDriver.toNothing(VF0, Optional.empty()).apply(host);
    BindDriver.to(VF0, "mlx5_core").apply(host);

    assertThat(HostPci.read(fake).rdmaOf(VF0).get(0).nodeGuid()).contains(GUID);
  }

  @Test
  void aVfThatIsSetUpLetsItsDriverSeeTheNewGuids() {
    new SetVfCount(PF, 1).apply(host);
    configure(0, VfSettings.NONE.withGuids(new Guid(0x42), new Guid(0x42))).apply(host);
    BindDriver.toNothing(VF0, Optional.empty()).apply(host);
    new BindDriver(VF0, Optional.of("mlx5_core"), Optional.of("mlx5_core")).apply(host);
    SortedMap<String, String> first = fake.state();
    SetUpVf change = new SetUpVf(PF, 0, VfSettings.NONE.withGuids(GUID, GUID));
    assertThat(change.isDone(host)).isFalse();

    Map<String, Object> before = change.before(host);
    change.apply(host);

    assertThat(change.isDone(host)).isTrue();
    assertThat(HostPci.read(fake).rdmaOf(VF0).get(0).nodeGuid()).contains(GUID);
    assertThat(HostPci.read(fake).device(VF0).orElseThrow().driverOverride())
        .as("what the override says stays")
        .contains("mlx5_core");
    change.undo(host, before);
    assertThat(fake.state()).isEqualTo(first);
  }

  private static ConfigureVf configure(int index, VfSettings wanted) {
    return new ConfigureVf(PF, index, wanted, VfSettings.NONE);
  }

  // Drivers

  @Test
  void aDeviceGoesToVfioByOverrideUnbindAndBindAndComesBack() {
    SortedMap<String, String> first = fake.state();
    BindDriver operation = BindDriver.toVfio(GPU);
    assertThat(operation.describe()).isEqualTo("0000:41:00.0: bind to vfio-pci");
    Map<String, Object> before = operation.before(host);

    operation.apply(host);

    assertThat(operation.isDone(host)).isTrue();
    assertThat(fake.takeLog())
        .containsExactly(
            DEVICES + GPU + "/driver_override = vfio-pci",
            DRIVERS + "nvidia/unbind = " + GPU,
            DRIVERS + "vfio-pci/bind = " + GPU);

    assertThat(operation.describeUndo(before)).isEqualTo("0000:41:00.0: back to nvidia");
    operation.undo(host, before);
    assertThat(fake.takeLog())
        .containsExactly(
            DEVICES + GPU + "/driver_override = nvidia",
            DRIVERS + "vfio-pci/unbind = " + GPU,
            DRIVERS + "nvidia/bind = " + GPU,
            DEVICES + GPU + "/driver_override = ");
    assertThat(fake.state()).isEqualTo(first);
  }

  @Test
  void aDeviceGoesToPcibackByOverrideAndItsListIsAsItWas() {
    fake.loadDriver("pciback");
    fake.write(DRIVERS + "pciback/new_slot", PF.toString(), TimeLimits.DEFAULT.attribute());
    fake.takeLog();
    SortedMap<String, String> first = fake.state();
    BindDriver operation = BindDriver.toStub(GPU, StubDriver.PCIBACK);
    Map<String, Object> before = operation.before(host);

    operation.apply(host);

    assertThat(operation.isDone(host)).isTrue();
    assertThat(slots()).containsExactly(PF.toString(), GPU.toString());
    assertThat(fake.takeLog())
        .containsExactly(
            DEVICES + GPU + "/driver_override = pciback",
            DRIVERS + "nvidia/unbind = " + GPU,
            DRIVERS + "pciback/bind = " + GPU);

    operation.undo(host, before);
    assertThat(fake.takeLog()).endsWith(DRIVERS + "pciback/remove_slot = " + GPU);
    assertThat(fake.state()).isEqualTo(first);
    operation.undo(host, before);
    assertThat(fake.takeLog()).isEmpty();
  }

  @Test
  void aDeviceThatWasHiddenAtBootStaysHidden() {
    fake.loadDriver("pciback");
    new BindDriver(GPU, Optional.empty(), Optional.empty()).apply(host);
    fake.write(DRIVERS + "pciback/new_slot", GPU.toString(), TimeLimits.DEFAULT.attribute());
    fake.write(DRIVERS + "pciback/bind", GPU.toString(), TimeLimits.DEFAULT.bind());
    SortedMap<String, String> hidden = fake.state();
    BindDriver operation = BindDriver.toStub(GPU, StubDriver.PCIBACK);
    Map<String, Object> before = operation.before(host);

    operation.apply(host);
    operation.undo(host, before);

    assertThat(fake.state()).isEqualTo(hidden);
    assertThat(slots()).containsExactly(GPU.toString());
  }

  @Test
  void theKernelListsADeviceTwiceThatIsWrittenTwice() {
    fake.loadDriver("pciback");
    for (int i = 0; i < 2; i++) {
      fake.write(DRIVERS + "pciback/new_slot", GPU.toString(), TimeLimits.DEFAULT.attribute());
    }
    assertThat(slots()).containsExactly(GPU.toString(), GPU.toString());
    BindDriver operation = BindDriver.toStub(GPU, StubDriver.PCIBACK);
    Map<String, Object> before = operation.before(host);
    operation.apply(host);
    assertThat(slots()).hasSize(2);
    operation.undo(host, before);
    assertThat(slots()).hasSize(2);
  }

  private List<String> slots() {
    return fake.read(DRIVERS + "pciback/slots").stream().flatMap(String::lines).toList();
  }

  @Test
  void aDriverThatIsNotLoadedIsRefusedBeforeAnythingIsUnbound() {
    SortedMap<String, String> first = fake.state();
    assertThatThrownBy(() -> BindDriver.to(GPU, "pciback").apply(host))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("modprobe xen-pciback");
    assertThat(fake.state()).isEqualTo(first);
  }

  @Test
  void aDeviceThatAProcessHasOpenIsNotUnbound() {
    fake.process(812, "python3", "/dev/nvidia0");
    SortedMap<String, String> first = fake.state();
    assertThatThrownBy(() -> BindDriver.toVfio(GPU).apply(host))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("held by python3 (process 812, /dev/nvidia0)");
    assertThat(fake.state()).isEqualTo(first);
  }

  @Test
  void anUnbindThatHangsEndsWithTheTimeLimitAndSaysWhatIsKnown() {
    fake.faults().hang("nvidia/unbind");
    fake.file(DEVICES + GPU + "/power_state", "D3cold");
    SortedMap<String, String> first = fake.state();
    BindDriver operation = BindDriver.toVfio(GPU);
    Map<String, Object> before = operation.before(host);

    assertThatThrownBy(() -> operation.apply(host))
        .isInstanceOf(WriteHangsException.class)
        .hasMessageStartingWith("0000:41:00.0: ")
        .hasMessageContaining("nvidia/unbind")
        .hasMessageContaining("no process has it open, its power state is D3cold");

    fake.faults().none();
    operation.undo(host, before);
    assertThat(fake.state()).isEqualTo(first);
  }

  @Test
  void anUnbindThatComesThroughLateIsTakenBackToo() {
    fake.faults().delay("nvidia/unbind", Duration.ofMinutes(10));
    SortedMap<String, String> first = fake.state();
    BindDriver operation = BindDriver.toVfio(GPU);
    Map<String, Object> before = operation.before(host);
    assertThatThrownBy(() -> operation.apply(host)).isInstanceOf(WriteHangsException.class);

    fake.faults().none();
    fake.settle();
    assertThat(HostPci.read(fake).device(GPU).orElseThrow().driver()).isEmpty();
    operation.undo(host, before);
    assertThat(fake.state()).isEqualTo(first);
  }

  @Test
  void aDelayWithinTheLimitIsNoError() {
    fake.faults().delay("nvidia/unbind", Duration.ofSeconds(50));
    BindDriver.toVfio(GPU).apply(host);
    assertThat(BindDriver.toVfio(GPU).isDone(host)).isTrue();
  }

  @Test
  void aDriverThatIsStillLoadingIsWaitedFor() throws InterruptedException {
    fake.file(DRIVERS + "late/module", "");
    TimeLimits none =
        new TimeLimits(Duration.ofDays(2), Duration.ZERO, Duration.ofDays(2), Duration.ZERO);
    assertThatThrownBy(
            () -> BindDriver.to(GPU, "late").apply(new HostAccess(fake, fake.links(), none)))
        .isInstanceOf(HostException.class)
        .hasMessageContaining("has not finished loading");

    Thread loading = new Thread(() -> fake.loadDriver("late"));
    loading.start();
    BindDriver.to(GPU, "late").apply(host);
    loading.join();
    assertThat(BindDriver.to(GPU, "late").isDone(host)).isTrue();
  }

  @Test
  void aDriverThatDoesNotTakeTheDeviceIsAnErrorWithTheKernelsNumber() {
    fake.faults().fail("vfio-pci/bind", Errno.ENODEV, 1);
    assertThatThrownBy(() -> BindDriver.toVfio(GPU).apply(host))
        .isInstanceOfSatisfying(
            WriteFailedException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV))
        .hasMessageContaining("dmesg");
  }

  @Test
  void aVfCanBeBoundWhileAutoprobeIsOff() {
    new SetAutoprobe(PF, false).apply(host);
    new SetVfCount(PF, 1).apply(host);
    BindDriver.to(VF0, "mlx5_core").apply(host);
    assertThat(BindDriver.to(VF0, "mlx5_core").isDone(host)).isTrue();
  }

  @Test
  void aDeviceThatIsNotThereIsSaidSo() {
    assertThatThrownBy(() -> BindDriver.toVfio(VF0).apply(host))
        .isInstanceOf(HostException.class)
        .hasMessageContaining("no such device");
  }

  // Files and reset

  @Test
  void theResetMethodIsSetAndTakenBack() {
    SetResetMethod operation = new SetResetMethod(GPU, "bus");
    Map<String, Object> before = operation.before(host);
    operation.apply(host);
    assertThat(HostPci.read(fake).device(GPU).orElseThrow().resetMethods()).containsExactly("bus");
    operation.undo(host, before);
    assertThat(HostPci.read(fake).device(GPU).orElseThrow().resetMethods())
        .containsExactly("flr", "bus");
    assertThatThrownBy(() -> new SetResetMethod(GPU, "magic").apply(host))
        .isInstanceOfSatisfying(
            WriteFailedException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
  }

  @Test
  void aConfigurationFileIsWrittenAndTakenBack() {
    StoreFile operation = new StoreFile(PF, "/etc/modprobe.d/graft-mlx4.conf", "options a b=1\n");
    SortedMap<String, String> first = fake.state();
    Map<String, Object> none = operation.before(host);
    operation.apply(host);
    StoreFile other = new StoreFile(PF, operation.path(), "options a b=2\n");
    Map<String, Object> one = other.before(host);
    other.apply(host);

    other.undo(host, one);
    assertThat(fake.read(operation.path())).contains("options a b=1");
    operation.undo(host, none);
    assertThat(fake.state()).isEqualTo(first);
  }

  // Shares of a GPU

  @Test
  void aMediatedDeviceIsMadeAndTakenAway() {
    String type = DEVICES + GPU + "/mdev_supported_types/nvidia-105";
    fake.file(type + "/available_instances", "1").file(type + "/create", "");
    assertThat(HostPci.read(fake).device(GPU).orElseThrow().mediatedTypes())
        .containsExactly("nvidia-105");
    SortedMap<String, String> first = fake.state();
    UUID uuid = UUID.fromString("aa618089-8b16-4d01-a136-25a0f3c73123");
    CreateMediatedDevice operation = new CreateMediatedDevice(GPU, "nvidia-105", uuid);
    Map<String, Object> before = operation.before(host);

    operation.apply(host);
    operation.apply(host);

    assertThat(operation.isDone(host)).isTrue();
    assertThatThrownBy(
            () -> new CreateMediatedDevice(GPU, "nvidia-105", new UUID(0, 1)).apply(host))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("no instance of type nvidia-105 is left");
    Map<String, Object> second = operation.before(host);
    operation.undo(host, second);
    assertThat(operation.isDone(host)).as("it was there already").isTrue();
    operation.undo(host, before);
    assertThat(fake.state()).isEqualTo(first);
    assertThatThrownBy(() -> new CreateMediatedDevice(GPU, "nvidia-1", uuid).apply(host))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("It offers [nvidia-105]");
  }

  @Test
  void aVirtualFunctionOfAGpuBecomesAnNvidiaVgpuAndStopsBeingOne() {
    fake.file(DEVICES + GPU + "/nvidia/current_vgpu_type", "0");
    SetNvidiaVgpuType operation = new SetNvidiaVgpuType(GPU, 722);
    Map<String, Object> before = operation.before(host);
    operation.apply(host);
    assertThat(fake.read(DEVICES + GPU + "/nvidia/current_vgpu_type")).contains("722");
    operation.undo(host, before);
    assertThat(fake.read(DEVICES + GPU + "/nvidia/current_vgpu_type")).contains("0");
    assertThatThrownBy(() -> new SetNvidiaVgpuType(PF, 722).apply(host))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("vGPU host driver");
  }
}
