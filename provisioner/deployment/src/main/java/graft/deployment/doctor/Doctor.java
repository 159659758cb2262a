package graft.deployment.doctor;

import graft.common.program.ClientFolder;
import graft.common.program.CurrentUser;
import graft.common.program.HostProgram;
import graft.common.values.MemorySize;
import graft.common.values.PciAddress;
import graft.deployment.gpu.CudaDevice;
import graft.deployment.gpu.CudaDriver;
import graft.deployment.observe.Connections;
import graft.deployment.observe.HostFacts;
import graft.deployment.observe.HostObserver;
import graft.deployment.state.DeviceClaims;
import graft.guests.image.ImageRecipe;
import graft.hypervisors.kvm.KvmHypervisor;
import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.libvirt.capabilities.GuestArchitecture;
import graft.hypervisors.libvirt.capabilities.HostCapabilities;
import graft.sriov.files.RootFolder;
import graft.sriov.host.HostPci;
import graft.sriov.host.PciDevice;
import graft.sriov.host.RdmaDevice;
import graft.sriov.preflight.Preflight;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Checks a host. Changes nothing. */
public final class Doctor {
  private static final MemorySize LITTLE_MEMORY = MemorySize.ofMib(1024);
  private static final MemorySize LITTLE_DISK = MemorySize.ofMib(2048);

  private final Map<String, String> environment;
  private final Finding isolation;
  private final List<Finding> findings = new ArrayList<>();

  /**
   * @param isolation how a server that runs here as this user would confine its workers
   */
  public Doctor(Map<String, String> environment, Finding isolation) {
    this.environment = environment;
    this.isolation = isolation;
  }

  /** All findings, including those without a problem. */
  public List<Finding> examine() {
    findings.add(Finding.ok("Java", Runtime.version().toString()));
    libvirt();
    findings.addAll(Containers.examine(Path.of("/proc")));
    findings.addAll(programs());
    client();
    findings.add(isolation);
    resources();
    HostPci pci = HostPci.read(RootFolder.thisHost());
    gpus(pci);
    passthrough(pci);
    return findings;
  }

  private void libvirt() {
    List<String> uris = HostObserver.daemons();
    List<String> errors = new ArrayList<>();
    for (String uri : uris) {
      try (Connections connections = new Connections()) {
        HostCapabilities host = connections.get(uri).capabilities();
        findings.add(Finding.ok("libvirt", host.libvirtVersion() + " at " + uri));
        hypervisor(host);
        return;
      } catch (HypervisorException e) {
        errors.add(e.getMessage());
      }
    }
    findings.add(
        Finding.problem(
                "libvirt",
                String.join("; ", errors),
                "apt-get install libvirt-daemon-system; then systemctl start libvirtd, or without"
                    + " systemd: virtlogd -d; libvirtd -d")
            .fixedBy(libvirtCommands()));
  }

  /** What starts libvirt's daemon, and installs it where it is missing. */
  List<List<String>> libvirtCommands() {
    List<List<String>> commands = new ArrayList<>();
    if (!HostProgram.isThere("libvirtd", environment)) {
      commands.add(Fixes.install("libvirt-daemon-system"));
    }
    commands.addAll(Fixes.startLibvirt());
    return commands;
  }

  private void hypervisor(HostCapabilities host) {
    KvmHypervisor kvm = new KvmHypervisor();
    if (!kvm.accepts(host)) {
      findings.add(
          Finding.problem(
              "QEMU",
              "libvirt runs no guests with machine q35 of " + host.arch(),
              "apt-get install qemu-system-x86; then restart libvirtd"));
      return;
    }
    String emulator =
        host.nativeGuest("hvm").flatMap(GuestArchitecture::emulator).orElse("its emulator");
    String version = host.hypervisorVersion().map(v -> v + " at ").orElse("");
    findings.add(Finding.ok("QEMU", version + emulator));
    List<String> warnings = kvm.warnings(host);
    if (warnings.isEmpty()) {
      findings.add(Finding.ok("KVM", "works"));
    }
    for (String warning : warnings) {
      findings.add(
          Finding.warning(
              "KVM",
              warning,
              warning.contains("vmx nor svm")
                  ? "turn on virtualization in the firmware, or nested virtualization"
                  : ""));
    }
  }

  /** The programs that Graft and libvirt run, and what guests with UEFI boot. */
  List<Finding> programs() {
    List<Finding> programs = new ArrayList<>();
    programs.add(program("qemu-img", "makes disks of guests that boot an image", "qemu-utils"));
    programs.add(program("setsid", "starts servers", "util-linux"));
    programs.add(
        wished("dnsmasq", isThere("dnsmasq"), "networks that a descriptor makes", "dnsmasq-base"));
    programs.add(wished("UEFI", KvmHypervisor.hasUefi(), "guests with firmware: uefi", "ovmf"));
    programs.add(images());
    return programs;
  }

  private Finding images() {
    List<String> missing = ImageRecipe.missingPackages(environment);
    return missing.isEmpty()
        ? Finding.ok("images", "graft image build has its programs")
        : Finding.warning(
                "images",
                "graft image build lacks programs",
                "apt-get install " + String.join(" ", missing))
            .fixedBy(missing.stream().map(Fixes::install).toList());
  }

  private boolean isThere(String program) {
    return HostProgram.isThere(program, environment);
  }

  /** What only some descriptors and commands need. */
  private static Finding wished(String name, boolean isThere, String user, String debian) {
    return isThere
        ? Finding.ok(name, "there")
        : Finding.warning(name, "missing: it is for " + user, "apt-get install " + debian)
            .fixedBy(List.of(Fixes.install(debian)));
  }

  private Finding program(String name, String use, String debian) {
    return isThere(name)
        ? Finding.ok(name, "there")
        : Finding.problem(name, "missing: it " + use, "apt-get install " + debian)
            .fixedBy(List.of(Fixes.install(debian)));
  }

  private void client() {
    Path folder = ClientFolder.path(environment);
    List<String> missing =
        Stream.of("libcuda.so.1", "libnvidia-ml.so.1", "graft-verify")
            .filter(name -> !Files.isRegularFile(folder.resolve(name)))
            .toList();
    findings.add(
        missing.isEmpty()
            ? Finding.ok("client", folder.toString())
            : Finding.problem(
                "client",
                String.join(", ", missing) + " not in " + folder,
                "./graft build (needs gcc), or set GRAFT_CLIENT_DIR"));
  }

  private void resources() {
    HostFacts host = HostObserver.observe();
    MemorySize memory = new MemorySize(host.availableMemory());
    String found = memory.rounded() + " free of " + new MemorySize(host.memory()).rounded();
    findings.add(
        memory.compareTo(LITTLE_MEMORY) >= 0
            ? Finding.ok("memory", found)
            : Finding.warning("memory", found, "end other programs, or give guests less memory"));
    disk(CurrentUser.stateFolder(environment));
    if (CurrentUser.isRoot()) {
      disk(Path.of("/var/lib/libvirt/images"));
    }
  }

  private void disk(Path folder) {
    Path there = folder;
    while (!Files.exists(there)) {
      there = there.getParent();
    }
    if (!Files.isWritable(there)) {
      findings.add(
          Finding.problem(
              "disk", folder + " cannot be written", "be root, or set GRAFT_STATE_DIR"));
      return;
    }
    try {
      MemorySize free = new MemorySize(Files.getFileStore(there).getUsableSpace());
      String found = free.rounded() + " free for " + folder;
      findings.add(
          free.compareTo(LITTLE_DISK) >= 0
              ? Finding.ok("disk", found)
              : Finding.warning("disk", found, "free some space"));
    } catch (IOException e) {
      findings.add(Finding.warning("disk", there + ": " + e.getMessage(), ""));
    }
  }

  private void gpus(HostPci pci) {
    List<PciDevice> gpus = pci.devices().values().stream().filter(PciDevice::isNvidiaGpu).toList();
    String driver = HostObserver.observe().nvidiaDriver();
    CudaDriver cuda = CudaDriver.ask(environment);
    if (gpus.isEmpty()) {
      findings.add(Finding.ok("GPU", "none; the software device serves programs on the CPU"));
    } else if (driver.isEmpty()) {
      findings.add(
          Finding.warning(
              "GPU",
              gpus.size() + " without the NVIDIA driver",
              "install the driver to serve them from this host"));
    } else if (!cuda.problem().isEmpty()) {
      findings.add(
          Finding.warning(
              "GPU",
              gpus.size() + ", driver " + driver + ", but CUDA does not work: " + cuda.problem(),
              "install the driver's libcuda.so.1, or see nvidia-smi and the kernel's log"));
    } else {
      findings.add(Finding.ok("GPU", gpus.size() + ", driver " + driver));
    }
    for (CudaDevice device : cuda.devices()) {
      String subject = "CUDA " + device.index();
      findings.add(Finding.ok(subject, device.describe() + ", CUDA " + cuda.version()));
      device.pageableNote().ifPresent(note -> findings.add(Finding.ok(subject, note)));
    }
    PageableAccess.examine(cuda.devices(), RootFolder.thisHost()).ifPresent(findings::add);
  }

  private void passthrough(HostPci pci) {
    // Guests without devices of the host run in spite of these findings: they are warnings.
    Set<PciAddress> lent =
        Containers.lent(DeviceClaims.folder(CurrentUser.stateFolder(environment)));
    for (graft.sriov.preflight.Finding one : Preflight.check(RootFolder.thisHost(), pci, lent)) {
      boolean well = one.level() == graft.sriov.preflight.Finding.Level.OK;
      String fix = String.join("; ", one.commands());
      findings.add(
          well
              ? Finding.ok(one.subject(), one.text())
              : Finding.warning(one.subject(), one.text(), fix));
    }
    String rdma = pci.rdma().stream().map(RdmaDevice::name).collect(Collectors.joining(", "));
    findings.add(Finding.ok("InfiniBand", rdma.isEmpty() ? "no adapter" : rdma));
  }
}
