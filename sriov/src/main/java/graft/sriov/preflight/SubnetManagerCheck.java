package graft.sriov.preflight;

import graft.sriov.files.Sysfs;
import graft.sriov.host.HostPci;
import graft.sriov.host.PciDevice;
import graft.sriov.host.RdmaDevice;
import graft.sriov.host.RdmaPort;
import graft.sriov.host.RdmaPort.LinkLayer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Checks which subnet manager an InfiniBand port has, and whether the subnet manager supports VFs.
 *
 * <p>The VFs of ConnectX-4 and later have GUIDs and states of their own only if the subnet manager
 * handles virtual ports. NVIDIA's OpenSM (MLNX_OFED, DOCA, UFM) handles them with {@code
 * virt_enabled 2}; the community's OpenSM has no such option. A subnet manager on another machine
 * cannot be queried from this host.
 */
final class SubnetManagerCheck {
  private static final List<String> PROGRAMS =
      List.of("/usr/sbin/opensm", "/opt/ufm/opensm/sbin/opensm", "/usr/local/sbin/opensm");
  private static final List<String> CONFIGURATIONS =
      List.of(
          "/etc/opensm/opensm.conf",
          "/etc/rdma/opensm.conf",
          "/opt/ufm/files/conf/opensm/opensm.conf");
  private static final Pattern OPTION =
      Pattern.compile("^\\s*virt_enabled\\s+(\\d+)", Pattern.MULTILINE);

  private final Sysfs files;
  private final HostPci host;

  private SubnetManagerCheck(Sysfs files, HostPci host) {
    this.files = files;
    this.host = host;
  }

  static List<Finding> check(Sysfs files, HostPci host) {
    SubnetManagerCheck check = new SubnetManagerCheck(files, host);
    List<Finding> findings = new ArrayList<>();
    for (RdmaDevice rdma : host.rdma()) {
      boolean vf = host.device(rdma.address()).map(PciDevice::isVirtualFunction).orElse(false);
      for (RdmaPort port : rdma.ports()) {
        if (!vf && port.linkLayer() == LinkLayer.INFINIBAND) {
          findings.add(check.port(rdma, port));
        }
      }
    }
    return findings;
  }

  private Finding port(RdmaDevice rdma, RdmaPort port) {
    String subject = rdma.name() + " port " + port.number();
    if (port.physicalState().equals("Disabled") || port.physicalState().equals("Polling")) {
      return Finding.problem(
          subject,
          "no link (" + port.physicalState() + "): look at the cable and the other end",
          "ibstat " + rdma.name());
    }
    if (port.smLid() == 0) {
      return Finding.problem(
          subject,
          "no subnet manager has configured it (state "
              + port.state()
              + ")"
              + (host.processes().opensm()
                  ? ", though opensm runs here: look which port it has"
                  : ""),
          "sminfo -C " + rdma.name() + " -P " + port.number(),
          "systemctl start opensm   # or start the one of the switch or of UFM");
    }
    if (port.smLid() != port.lid() || !host.processes().opensm()) {
      return Finding.warning(
          subject,
          "its subnet manager is at LID "
              + port.smLid()
              + ", which is not this host; only there can be seen whether it handles virtual ports",
          "sminfo -C " + rdma.name() + " -P " + port.number(),
          "grep virt_enabled /etc/opensm/opensm.conf   # there; it has to be 2");
    }
    return local(subject);
  }

  private Finding local(String subject) {
    Optional<String> program = PROGRAMS.stream().filter(files::exists).findFirst();
    boolean capable =
        program.isPresent() && files.read(program.get()).orElse("").contains("virt_enabled");
    if (!capable) {
      return Finding.problem(
          subject,
          program.isPresent()
              ? "the opensm of this host ("
                  + program.get()
                  + ") is the community's, which does not handle virtual ports: VFs stay down"
              : "opensm runs on this host from a place that is not known",
          "opensm --version   # NVIDIA's says MLNX",
          "install the opensm of MLNX_OFED or DOCA-OFED, or use the manager of UFM");
    }
    for (String path : CONFIGURATIONS) {
      Matcher option = OPTION.matcher(files.read(path).orElse(""));
      if (option.find()) {
        return option.group(1).equals("2")
            ? Finding.ok(subject, "its subnet manager, on this host, handles virtual ports")
            : notEnabled(subject, path + " says virt_enabled " + option.group(1), path);
      }
    }
    return notEnabled(subject, "nothing says virt_enabled 2", CONFIGURATIONS.get(0));
  }

  private static Finding notEnabled(String subject, String why, String path) {
    return Finding.problem(
        subject,
        "its subnet manager, on this host, could handle virtual ports but does not: " + why,
        "put the line 'virt_enabled 2' into " + path,
        "systemctl restart opensm");
  }
}
