package graft.sriov.fake;

import graft.sriov.VfPolicy;
import graft.sriov.VfSettings;
import graft.sriov.files.Errno;
import graft.sriov.host.NetInterface;
import graft.sriov.netlink.NetlinkException;
import graft.sriov.netlink.VfLinks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Netlink with the replies of the mainline mlx5 driver (drivers/infiniband/hw/mlx5/ib_virt.c). */
final class FakeLinks implements VfLinks {
  private final FakeKernel kernel;
  private final FakeSysfs files;

  FakeLinks(FakeKernel kernel, FakeSysfs files) {
    this.kernel = kernel;
    this.files = files;
  }

  @Override
  public List<VfSettings> read(NetInterface physical) {
    synchronized (files) { // stands for the kernel's lock, rtnl
      FakeDevice pf = find("reading the VFs", physical);
      List<VfSettings> all = new ArrayList<>();
      for (int i = 0; i < kernel.numVfs(pf); i++) {
        all.add(pf.vfSettings.getOrDefault(i, VfSettings.NONE.withPolicy(VfPolicy.FOLLOW)));
      }
      return all;
    }
  }

  @Override
  public void set(NetInterface physical, int vf, VfSettings wanted) {
    FakeDevice pf;
    synchronized (files) {
      pf = find("setting VF " + vf, physical);
    }
    for (Map.Entry<String, String> one : wanted.toMap().entrySet()) {
      VfSettings single = VfSettings.fromMap(Map.of(one.getKey(), one.getValue()));
      files.change(
          "netlink " + physical.name() + " vf " + vf + " " + one.getKey(),
          one.getValue(),
          Duration.ofDays(2),
          path -> {
            if (vf >= kernel.numVfs(pf)) {
              throw new NetlinkException(path, physical.name(), Errno.EINVAL, 22);
            }
            boolean guid = single.hasGuids();
            if ((pf.ethernet && guid) || (!pf.ethernet && single.hasEthernet())) {
              throw new NetlinkException(path, physical.name(), Errno.EOPNOTSUPP, 95);
            }
            pf.vfSettings.merge(vf, single, (old, now) -> now.or(old));
            FakeAdapters.settingsChanged(kernel, pf, vf);
          });
    }
  }

  private FakeDevice find(String tried, NetInterface physical) {
    return kernel.devices().values().stream()
        .filter(device -> physical.name().equals(device.netName) && device.driver != null)
        .findFirst()
        .orElseThrow(() -> new NetlinkException(tried, physical.name(), Errno.ENODEV, 19));
  }
}
