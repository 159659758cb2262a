package graft.deployment.doctor;

import graft.common.values.MemorySize;
import graft.common.values.PciAddress;
import graft.deployment.gpu.CudaDevice;
import graft.deployment.observe.HostFacts;
import graft.sriov.host.HostPci;
import graft.sriov.host.PciDevice;
import graft.sriov.host.RdmaDevice;
import graft.sriov.preflight.Finding;
import java.util.List;
import java.util.Optional;

/** Writes a descriptor to start from, with what a host has. */
public final class Starter {
  private final HostFacts host;
  private final HostPci pci;
  private final List<CudaDevice> devices;
  private final List<Finding> findings;
  private final String uri;

  /**
   * A starter for a host.
   *
   * @param devices what the CUDA driver says about its GPUs; empty if there is no driver
   * @param findings what its devices lack for passthrough
   * @param uri the libvirt connection; empty if none answers
   */
  public Starter(
      HostFacts host, HostPci pci, List<CudaDevice> devices, List<Finding> findings, String uri) {
    this.devices = devices;
    this.findings = findings;
    this.host = host;
    this.pci = pci;
    this.uri = uri;
  }

  /** A valid descriptor; parts that need a decision are in comments. */
  public String descriptor() {
    StringBuilder text = new StringBuilder();
    text.append("# A descriptor to start from, by graft inspect.\n");
    text.append("# This host: ")
        .append(host.cpus())
        .append(" CPUs, ")
        .append(new MemorySize(host.memory()).rounded())
        .append(" of memory, ")
        .append(uri.isEmpty() ? "no libvirt that answers" : "libvirt at " + uri)
        .append(host.nvidiaDriver().isEmpty() ? "" : ", NVIDIA driver " + host.nvidiaDriver())
        .append(".\n");
    text.append("graft: 1\nname: lab\n");
    if (!uri.isEmpty()) {
      text.append("libvirt: ").append(uri).append('\n');
    }
    gpus(text);
    fabric(text);
    text.append(
        """

        # Give a guest an image, or a kernel with an initramfs, then remove the # signs.
        # guests:
        #   - name: guest-1
        #     image: /var/lib/libvirt/images/debian-12.qcow2
        #     cpus: 1
        #     memory: 1GiB
        #     networks: [user]
        #     vgpu: gpu0
        """);
    return text.toString();
  }

  private void gpus(StringBuilder text) {
    List<PciDevice> gpus = pci.devices().values().stream().filter(PciDevice::isNvidiaGpu).toList();
    text.append("\ngpus:\n");
    if (gpus.isEmpty()) {
      text.append("  # No GPU here: programs run on the CPU.\n");
      text.append("  - {name: gpu0, owner: host, device: software}\n");
    }
    for (int i = 0; i < gpus.size(); i++) {
      PciDevice gpu = gpus.get(i);
      text.append("  # ").append(gpu.address()).append(", ");
      devices.stream()
          .filter(device -> device.isAt(gpu.address()))
          .forEach(device -> text.append(device.describe()).append(", "));
      text.append(where(gpu)).append('\n');
      if (host.nvidiaDriver().isEmpty()) {
        text.append("  # - {name: gpu").append(i).append(", owner: \"guest:NAME\", device: ");
        text.append(gpu.address()).append("}\n");
      } else {
        text.append("  - {name: gpu").append(i).append(", owner: host, device: \"gpu:");
        text.append(i).append("\"}\n");
      }
    }
    if (!gpus.isEmpty() && host.nvidiaDriver().isEmpty()) {
      text.append("  - {name: gpu").append(gpus.size()).append(", device: software}\n");
    }
  }

  private String where(PciDevice device) {
    String node =
        device.numaNode().isPresent() ? "NUMA node " + device.numaNode().getAsInt() + ", " : "";
    Optional<String> driver = device.driver();
    String group =
        device
            .iommuGroup()
            .map(
                number ->
                    "IOMMU group " + number + " of " + pci.members(number).size() + " devices, ")
            .orElse("");
    return node + group + driver.map(d -> "driver " + d).orElse("no driver");
  }

  private void fabric(StringBuilder text) {
    comments(text, "", "IOMMU");
    if (pci.rdma().isEmpty()) {
      return;
    }
    text.append("\nfabric:\n  adapters:\n");
    for (RdmaDevice device : pci.rdma()) {
      if (isVirtual(device.address())) {
        continue;
      }
      int most =
          pci.device(device.address()).flatMap(PciDevice::sriov).map(s -> s.totalVfs()).orElse(0);
      text.append("    # ").append(device.address()).append(", at most ").append(most);
      text.append(" virtual functions\n");
      comments(text, "    ", device.address().toString());
      device.ports().forEach(p -> comments(text, "    ", device.name() + " port " + p.number()));
      text.append("    - {name: ").append(device.name().replace('_', '-')).append(", device: ");
      text.append(device.name()).append("}\n");
    }
  }

  /** The problems of a device, and the commands that fix them. */
  private void comments(StringBuilder text, String indent, String subject) {
    for (Finding finding : findings) {
      if (finding.subject().equals(subject) && finding.level() != Finding.Level.OK) {
        text.append(indent).append("# ").append(subject).append(": ");
        text.append(finding.text()).append('\n');
        finding.commands().forEach(c -> text.append(indent).append("#   ").append(c).append('\n'));
      }
    }
  }

  private boolean isVirtual(PciAddress address) {
    return pci.device(address).map(PciDevice::isVirtualFunction).orElse(false);
  }
}
