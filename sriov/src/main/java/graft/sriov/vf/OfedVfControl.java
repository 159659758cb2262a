package graft.sriov.vf;

import graft.common.values.PciAddress;
import graft.sriov.Guid;
import graft.sriov.VfPolicy;
import graft.sriov.VfSettings;
import graft.sriov.files.PciPaths;
import graft.sriov.files.Sysfs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The files {@code sriov/N/{node,port,policy}} in the PF's folder. NVIDIA's out-of-tree mlx5 driver
 * (MLNX_OFED, DOCA-OFED; {@code sriov_sysfs.c}) has them, the mainline driver does not.
 */
final class OfedVfControl implements VfControl {
  private final Sysfs files;
  private final Duration limit;
  private final VfInterface through;
  private final String folder;

  OfedVfControl(HostAccess host, VfInterface through, PciAddress pf) {
    this.files = host.files();
    this.limit = host.limits().attribute();
    this.through = through;
    this.folder = PciPaths.device(pf, "sriov");
  }

  @Override
  public VfInterface through() {
    return through;
  }

  @Override
  public List<VfSettings> read() {
    List<VfSettings> all = new ArrayList<>();
    int count = (int) files.list(folder).stream().filter(OfedVfControl::isNumber).count();
    for (int vf = 0; vf < count; vf++) {
      all.add(one(vf));
    }
    return all;
  }

  @Override
  public Optional<VfSettings> read(int vf) {
    return files.exists(folder + "/" + vf) ? Optional.of(one(vf)) : Optional.empty();
  }

  private VfSettings one(int vf) {
    String path = folder + "/" + vf + "/";
    return new VfSettings(
        guid(path + "node"),
        guid(path + "port"),
        policy(path + "policy"),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  private static boolean isNumber(String name) {
    return name.chars().allMatch(Character::isDigit);
  }

  private Optional<Guid> guid(String path) {
    try {
      return files.read(path).map(Guid::parse);
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private Optional<VfPolicy> policy(String path) {
    String text = files.read(path).orElse("");
    for (VfPolicy policy : VfPolicy.values()) {
      if (policy.text().equals(text)) {
        return Optional.of(policy);
      }
    }
    return Optional.empty();
  }

  @Override
  public void set(int vf, VfSettings wanted) {
    String path = folder + "/" + vf + "/";
    wanted.nodeGuid().ifPresent(guid -> files.write(path + "node", guid.toString(), limit));
    wanted.portGuid().ifPresent(guid -> files.write(path + "port", guid.toString(), limit));
    wanted.policy().ifPresent(policy -> files.write(path + "policy", policy.text(), limit));
  }
}
