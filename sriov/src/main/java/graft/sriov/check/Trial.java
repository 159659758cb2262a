package graft.sriov.check;

import graft.common.values.MacAddress;
import graft.common.values.PciAddress;
import graft.sriov.Guid;
import graft.sriov.HostException;
import graft.sriov.Problem;
import graft.sriov.RefusedException;
import graft.sriov.VfPolicy;
import graft.sriov.VfSettings;
import graft.sriov.host.PciDevice;
import graft.sriov.host.PciFunction;
import graft.sriov.operation.Deadline;
import graft.sriov.operation.DeviceChange;
import graft.sriov.plan.GuidScheme;
import graft.sriov.plan.HostState;
import graft.sriov.plan.Mlx4Options;
import graft.sriov.plan.PassthroughPlanner;
import graft.sriov.plan.PassthroughRequest;
import graft.sriov.plan.PassthroughRequest.Bridges;
import graft.sriov.plan.VfPlanner;
import graft.sriov.plan.VfRequest;
import graft.sriov.vf.HostAccess;
import graft.sriov.vf.VfInterface;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/** Applies one plan, checks the host and undoes the plan, and prints a line for each check. */
final class Trial {
  /** A locally administered address. */
  private static final long FIRST_MAC = 0x0267_7266_0000L;

  private static final Duration SETTLING = Duration.ofSeconds(15);

  private final HostAccess host;
  private final PrintStream out;
  private boolean good = true;

  Trial(HostAccess host, PrintStream out) {
    this.host = host;
    this.out = out;
  }

  /**
   * Creates VFs, sets everything that their port allows, and binds the VFs to the driver if one is
   * named.
   */
  boolean vfs(PciAddress pf, int count, String driver) {
    HostState state = HostState.read(host);
    PciDevice device =
        state
            .pci()
            .device(pf)
            .orElseThrow(() -> new HostException("not there", pf.toString(), "Look at lspci -D"));
    if (device.sriov().map(sriov -> sriov.numVfs() > 0).orElse(false)) {
      throw new RefusedException(
          new Problem(pf, "it has VFs now", "Try on a PF without VFs, or remove them"));
    }
    Map<Integer, String> drivers = new HashMap<>();
    for (int i = 0; i < count && !driver.isEmpty(); i++) {
      drivers.put(i, driver);
    }
    VfInterface.Kind kind =
        VfInterface.of(PciFunction.read(host.files(), pf)).map(VfInterface::kind).orElse(null);
    VfSettings all =
        kind == null || kind == VfInterface.Kind.MLX4_FILES
            ? VfSettings.NONE
            : VfSettings.NONE.withPolicy(VfPolicy.FOLLOW);
    Map<Integer, VfSettings> each = new HashMap<>();
    for (int i = 0; i < count && kind == VfInterface.Kind.NETLINK_ETHERNET; i++) {
      each.put(i, VfSettings.NONE.withMac(new MacAddress(FIRST_MAC + i)));
    }
    VfRequest request = VfRequest.of(pf, count).withAll(all).withEach(each).withDrivers(drivers);
    if (state.pci().rdmaOf(pf).stream().anyMatch(rdma -> rdma.nodeGuid().isPresent())) {
      request = request.withGuids(GuidScheme.DEFAULT);
    }
    VfRequest wanted = request;
    VfPlanner planner = new VfPlanner(state);
    if (planner.problems(List.of(wanted)).isEmpty() && planner.awaitsModule(List.of(wanted))) {
      throw new RefusedException(
          new Problem(
              pf,
              "mlx4 makes its VFs when its module is loaded and never later",
              "Write '"
                  + planner.module(List.of(wanted)).orElseThrow().line()
                  + "' to "
                  + Mlx4Options.PATH
                  + " and load it again: "
                  + Mlx4Options.RELOAD));
    }
    return run(
        List.of(pf),
        now -> new VfPlanner(now).plan(List.of(wanted)),
        now -> {
          PciDevice made = now.pci().device(pf).orElseThrow();
          see("VFs", count, made.sriov().orElseThrow().vfs().size());
          List<VfSettings> settings = now.settings().getOrDefault(pf, List.of());
          settings.forEach(one -> out.println("     the driver says: " + one));
          for (PciAddress vf : made.sriov().orElseThrow().vfs()) {
            Optional<String> bound = now.pci().device(vf).orElseThrow().driver();
            see("driver of " + vf, driver, bound.orElse(""));
            Optional<Guid> guid =
                now.pci().rdmaOf(vf).stream().flatMap(rdma -> rdma.nodeGuid().stream()).findFirst();
            guid.ifPresent(node -> out.println("     " + vf + " has node GUID " + node));
          }
        });
  }

  /** Binds a device, and the devices that must go with it, to vfio-pci. */
  boolean passthrough(PciAddress address) {
    PassthroughRequest request = new PassthroughRequest(address, "trial", Bridges.ACCEPT);
    HostState state = HostState.read(host);
    List<PciDevice> functions = new PassthroughPlanner(state).plan(List.of(request)).functions();
    return run(
        functions.stream().map(PciDevice::address).toList(),
        now -> new PassthroughPlanner(now).plan(List.of(request)).operations(),
        now -> {
          for (PciDevice function : functions) {
            PciDevice bound = now.pci().device(function.address()).orElseThrow();
            see("driver of " + function.address(), "vfio-pci", bound.driver().orElse(""));
          }
        });
  }

  /** A change that was begun, with the values of the host from before the change. */
  private record Written(DeviceChange change, Map<String, Object> before) {}

  private interface Look {
    void at(HostState state);
  }

  private boolean run(
      List<PciAddress> devices, Function<HostState, List<DeviceChange>> plan, Look look) {
    List<PciFunction> first = functions(devices);
    List<Written> written = new ArrayList<>();
    HostException failure = null;
    try {
      for (DeviceChange change : plan.apply(HostState.read(host))) {
        written.add(new Written(change, change.before(host)));
        timed("do   ", change.describe(), () -> change.apply(host));
      }
      HostState now = HostState.read(host);
      look.at(now);
      see("operations left", 0, plan.apply(now).size());
    } catch (HostException e) {
      out.println("FAILED " + e.getMessage());
      failure = e;
    }
    for (int i = written.size() - 1; i >= 0; i--) {
      DeviceChange change = written.get(i).change();
      Map<String, Object> before = written.get(i).before();
      try {
        timed("undo ", change.describeUndo(before), () -> change.undo(host, before));
      } catch (HostException e) {
        out.println("FAILED " + e.getMessage());
        good = false;
      }
    }
    see("the host as it was", first, settled(devices, first));
    out.println(good && failure == null ? "GOOD" : "NOT GOOD");
    return good && failure == null;
  }

  /** Reads the devices, after waiting for a network card to establish its link again. */
  private List<PciFunction> settled(List<PciAddress> devices, List<PciFunction> expected) {
    Deadline deadline = Deadline.after(SETTLING);
    List<PciFunction> now = functions(devices);
    while (!now.equals(expected) && deadline.sleep()) {
      now = functions(devices);
    }
    return now;
  }

  private List<PciFunction> functions(List<PciAddress> devices) {
    return devices.stream().map(device -> PciFunction.read(host.files(), device)).toList();
  }

  private void timed(String what, String line, Runnable work) {
    long start = System.nanoTime();
    work.run();
    out.println(what + line + " (" + (System.nanoTime() - start) / 1_000_000 + " ms)");
  }

  private void see(String what, Object expected, Object seen) {
    boolean same = Objects.equals(expected, seen);
    good &= same;
    out.println(
        same ? "ok   " + what : "BAD  " + what + ": expected " + expected + ", saw " + seen);
  }
}
