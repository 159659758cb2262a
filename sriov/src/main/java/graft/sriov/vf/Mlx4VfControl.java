package graft.sriov.vf;

import graft.common.values.PciAddress;
import graft.sriov.Guid;
import graft.sriov.HostException;
import graft.sriov.VfSettings;
import graft.sriov.files.PciPaths;
import graft.sriov.files.Sysfs;
import graft.sriov.host.PciDevice;
import graft.sriov.host.SriovCapability;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The {@code iov} folder of an mlx4 adapter: a table of alias GUIDs for each port, of which each VF
 * has one entry (Linux, drivers/infiniband/hw/mlx4/sysfs.c). The table contains port GUIDs only; 0
 * requests a GUID from the subnet manager, and all ones deletes the entry. Graft uses port 1 only:
 * on an adapter with two InfiniBand ports, the VFs' GUIDs on the second port stay unchanged.
 */
final class Mlx4VfControl implements VfControl {
  private static final String ADMIN = "admin";

  private final Sysfs files;
  private final Duration limit;
  private final VfInterface through;
  private final PciAddress pf;
  private final String iov;
  private final int vfs;

  Mlx4VfControl(HostAccess host, VfInterface through, PciDevice pf) {
    this.files = host.files();
    this.limit = host.limits().attribute();
    this.through = through;
    this.pf = pf.address();
    this.iov = PciPaths.device(this.pf, "infiniband") + "/" + through.rdma().orElseThrow() + "/iov";
    this.vfs = pf.sriov().map(SriovCapability::numVfs).orElse(0);
  }

  @Override
  public VfInterface through() {
    return through;
  }

  @Override
  public List<VfSettings> read() {
    List<VfSettings> all = new ArrayList<>();
    for (int vf = 0; vf < vfs; vf++) {
      all.add(one(vf));
    }
    return all;
  }

  @Override
  public Optional<VfSettings> read(int vf) {
    return vf < vfs ? Optional.of(one(vf)) : Optional.empty();
  }

  private VfSettings one(int vf) {
    long bits = Long.parseUnsignedLong(admin(vf), 16);
    return bits == 0 || bits == -1 ? VfSettings.NONE : VfSettings.NONE.withPortGuid(new Guid(bits));
  }

  @Override
  public void set(int vf, VfSettings wanted) {
    wanted.portGuid().ifPresent(guid -> write(vf, String.format("0x%016x", guid.value())));
  }

  /**
   * 0 does not mean unknown here: it stands for the subnet manager's choice, which can be requested
   * again.
   */
  @Override
  public Map<String, String> capture(int vf) {
    return vf < vfs ? Map.of(ADMIN, admin(vf)) : Map.of();
  }

  @Override
  public void restore(int vf, Map<String, String> captured) {
    String before = captured.get(ADMIN);
    if (before != null && vf < vfs && !before.equals(admin(vf))) {
      write(vf, "0x" + before);
    }
  }

  private void write(int vf, String value) {
    files.write(entry(vf), value, limit);
  }

  /** Hexadecimal digits without a prefix, as the driver prints them. */
  private String admin(int vf) {
    return files.read(entry(vf)).map(text -> text.replaceFirst("^0x", "")).orElse("0");
  }

  private String entry(int vf) {
    // The driver's name of the function contains the device number in decimal (get_name in that
    // file).
    int slave = vf + 1;
    String name = String.format("%s%02d.%d", pf.toString().substring(0, 8), slave / 8, slave % 8);
    String index =
        files
            .read(iov + "/" + name + "/ports/1/gid_idx/0")
            .orElseThrow(
                () ->
                    new HostException(
                        "VF " + vf + " has no entry in the table of GUIDs (" + iov + ")",
                        pf.toString(),
                        "Look whether mlx4_ib is loaded and num_vfs of mlx4_core covers it"));
    return iov + "/ports/1/admin_guids/" + index;
  }
}
