package graft.sriov.plan;

import graft.common.values.MacAddress;
import graft.common.values.PciAddress;
import graft.sriov.Guid;
import graft.sriov.VfPolicy;
import graft.sriov.VfRate;
import graft.sriov.VfSettings;
import graft.sriov.fake.FakeDevice;
import graft.sriov.fake.FakeSysfs;
import graft.sriov.operation.BindDriver;
import graft.sriov.operation.ConfigureVf;
import graft.sriov.operation.SetAutoprobe;
import graft.sriov.operation.SetVfCount;
import graft.sriov.vf.HostAccess;
import graft.sriov.vf.TimeLimits;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/** A random host and requests for it, all derived from one number. */
final class RandomHost {
  final FakeSysfs fake;
  final HostAccess host;
  final List<VfRequest> vfs = new ArrayList<>();
  final List<PassthroughRequest> passthrough = new ArrayList<>();
  private final Random random;

  RandomHost(Path root, long seed) {
    random = new Random(seed);
    fake = new FakeSysfs(root).loadDriver("vfio-pci").loadDriver("pci-stub");
    host = new HostAccess(fake, fake.links(), TimeLimits.DEFAULT);
    int pfs = 1 + random.nextInt(2);
    for (int i = 0; i < pfs; i++) {
      addPf(String.format("0000:%02x:00.%d", 0x3b + i, random.nextInt(2)));
    }
    fake.takeLog();
    int gpus = random.nextInt(3);
    for (int i = 0; i < gpus; i++) {
      addGpu(String.format("0000:%02x:00", 0x60 + i), 20 + i);
    }
  }

  private void addPf(String address) {
    int total = 2 + random.nextInt(4);
    FakeDevice pf = FakeDevice.mlx5(address, total);
    boolean ethernet = random.nextInt(4) == 0;
    if (ethernet) {
      pf.ethernet();
    }
    if (random.nextBoolean()) {
      pf.ofed();
    }
    fake.add(pf);
    PciAddress at = PciAddress.parse(address);
    int present = random.nextInt(3) == 0 ? 0 : random.nextInt(total + 1);
    new SetAutoprobe(at, false).apply(host);
    new SetVfCount(at, present).apply(host);
    for (int i = 0; i < present; i++) {
      new ConfigureVf(at, i, settings(ethernet, true), VfSettings.NONE).apply(host);
      if (random.nextInt(3) > 0) {
        BindDriver.to(at.plus(1 + i), "mlx5_core").apply(host);
      }
      if (random.nextInt(6) == 0) {
        BindDriver.toNothing(at.plus(1 + i), Optional.of("pci-stub")).apply(host);
      }
    }
    new SetAutoprobe(at, random.nextInt(4) > 0).apply(host);
    request(at, total, ethernet);
  }

  private void request(PciAddress pf, int total, boolean ethernet) {
    int count = random.nextInt(total + 1);
    Map<Integer, VfSettings> each = new HashMap<>();
    Map<Integer, String> drivers = new HashMap<>();
    for (int i = 0; i < count; i++) {
      if (random.nextInt(3) == 0) {
        each.put(i, settings(ethernet, false));
      }
      switch (random.nextInt(3)) {
        case 0 -> drivers.put(i, "vfio-pci");
        case 1 -> drivers.put(i, "mlx5_core");
        default -> {}
      }
    }
    VfRequest request = VfRequest.of(pf, count).withEach(each).withDrivers(drivers);
    if (!ethernet && random.nextBoolean()) {
      request = request.withGuids(GuidScheme.DEFAULT);
    }
    if (random.nextBoolean()) {
      request = request.withAll(VfSettings.NONE.withPolicy(VfPolicy.UP));
    }
    vfs.add(request);
  }

  /** Settings with all values, or with a random selection of them. */
  private VfSettings settings(boolean ethernet, boolean all) {
    VfSettings settings = VfSettings.NONE;
    if (all || random.nextBoolean()) {
      settings = settings.withPolicy(VfPolicy.values()[random.nextInt(3)]);
    }
    long unique = random.nextInt() & 0xffffffffL;
    if (ethernet) {
      settings = settings.withMac(new MacAddress(0x0200_0000_0000L | unique));
      if (all || random.nextBoolean()) {
        settings = settings.withTrust(random.nextBoolean()).withRate(new VfRate(0, 1000));
      }
    } else {
      Guid guid = new Guid(0x0600_0000_0000_0000L | unique);
      settings = settings.withGuids(guid, guid);
    }
    return settings;
  }

  private void addGpu(String slot, int group) {
    fake.add(FakeDevice.gpu(slot + ".0").group(group));
    fake.add(
        FakeDevice.at(slot + ".1")
            .ids(0x10de, 0x10f0)
            .pciClass(0x040300)
            .group(group)
            .driver(random.nextBoolean() ? "snd_hda_intel" : null));
    if (random.nextBoolean()) {
      passthrough.add(
          new PassthroughRequest(PciAddress.parse(slot + ".0"), "guest" + random.nextInt(3)));
    }
  }
}
