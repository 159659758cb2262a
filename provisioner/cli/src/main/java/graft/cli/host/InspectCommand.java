package graft.cli.host;

import graft.cli.printed.HostForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.deployment.doctor.Starter;
import graft.deployment.gpu.CudaDriver;
import graft.deployment.observe.Connections;
import graft.deployment.observe.HostFacts;
import graft.deployment.observe.HostObserver;
import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.sriov.files.RootFolder;
import graft.sriov.host.HostPci;
import graft.sriov.preflight.Finding;
import graft.sriov.preflight.Preflight;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code graft inspect}: prints a descriptor of this host to start from. */
@Prints(HostForms.Inspected.class)
@Command(
    name = "inspect",
    mixinStandardHelpOptions = true,
    header = "Prints this host as a descriptor to start from.",
    description = {
      "",
      "Finds GPUs, InfiniBand adapters and libvirt, and prints a valid descriptor that names them."
          + " Changes nothing.",
      ""
    },
    footerHeading = "%nExample:%n",
    footer = {"  graft inspect > lab.yaml"})
public final class InspectCommand implements Callable<Integer> {
  @Mixin Output output;

  @Override
  public Integer call() {
    HostFacts host = HostObserver.observe();
    HostPci pci = HostPci.read(RootFolder.thisHost());
    List<Finding> findings = Preflight.check(RootFolder.thisHost(), pci);
    CudaDriver cuda = CudaDriver.ask(System.getenv());
    String descriptor = new Starter(host, pci, cuda.devices(), findings, uri()).descriptor();
    output.say(descriptor.stripTrailing());
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("cpus", host.cpus());
    tree.put("memory", host.memory());
    tree.put("availableMemory", host.availableMemory());
    tree.put("nvidiaDriver", host.nvidiaDriver());
    tree.put("cuda", cuda.tree());
    tree.put("devices", pci.devices().values().stream().map(d -> d.label()).toList());
    tree.put("rdma", pci.rdma().stream().map(r -> r.name()).toList());
    tree.put("findings", findings.stream().map(Finding::toString).toList());
    tree.put("descriptor", descriptor);
    output.result(tree);
    return ExitCode.OK;
  }

  private static String uri() {
    List<String> uris = HostObserver.daemons();
    try (Connections connections = new Connections()) {
      for (String uri : uris) {
        try {
          connections.get(uri);
          return uri;
        } catch (HypervisorException e) {
          // try the next one
        }
      }
      return "";
    }
  }
}
