package graft.deployment.fabric;

import graft.common.bind.Position;
import graft.common.bind.Problems;
import graft.common.values.PciAddress;
import graft.deployment.observe.DeviceFacts;
import graft.deployment.state.DeviceClaims.Holder;
import graft.deployment.step.device.BindPciDevice;
import graft.deployment.step.device.LendFunction;
import graft.sriov.host.NetInterface;
import graft.sriov.host.PciDevice;
import graft.sriov.host.SriovCapability;
import graft.sriov.plan.FunctionDriver;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Plans network adapters for containers, a virtual function or a whole one: the function is bound
 * to the host's driver, and its network interface moves into the container.
 */
final class LentFunctions {
  private static final String INSTEAD = "leave it out, or give it to a virtual machine";

  private final DeviceFacts facts;
  private final String uri;
  private final Path claims;
  private final List<String> notes;
  private final Problems problems;

  /**
   * A planner.
   *
   * @param uri the libvirt of the containers
   * @param claims the folder of all claims
   * @param notes gets remarks on functions
   */
  LentFunctions(DeviceFacts facts, String uri, Path claims, List<String> notes, Problems problems) {
    this.facts = facts;
    this.uri = uri;
    this.claims = claims;
    this.notes = notes;
    this.problems = problems;
  }

  /** The step that gives a container a whole adapter, or a function by its address. */
  LendFunction lend(Holder container, PciDevice adapter, String what, Position at) {
    int functions = adapter.sriov().map(SriovCapability::numVfs).orElse(0);
    if (functions > 0) {
      problems.add(
          at,
          adapter.address() + " has " + functions + " virtual functions, which need it on the host",
          "give the container one of them by vfs, or take them away first");
    }
    if (adapter.boundForPassthrough()) {
      problems.add(
          at,
          adapter.address()
              + " is bound to "
              + adapter.driver().orElseThrow()
              + ", and a container needs it bound to its driver of the host",
          "give it back to the host first: undo the deployment that passed it through");
    }
    there(container, adapter, at);
    Optional<String> usual =
        adapter
            .physicalFunction()
            .flatMap(facts.host().pci()::device)
            .flatMap(FunctionDriver::ofVirtual);
    String driver = driver(adapter.address(), FunctionDriver.present(adapter).or(() -> usual), at);
    return step(container, adapter.address(), Optional.empty(), what + adapter.address(), driver);
  }

  /** The step that gives a container a virtual function, which may still have to be made. */
  LendFunction lend(Holder container, AdapterPlan adapter, int index, Position at) {
    PciAddress address = adapter.function(index);
    Optional<PciDevice> there =
        facts.host().pci().device(address).filter(device -> adapter.isMade());
    if (!isNetwork(adapter.pf())) {
      problems.add(
          at,
          "the virtual functions of "
              + adapter.pf().address()
              + " are no network adapters, and a container gets a function by its network interface",
          INSTEAD);
    } else if (there.isPresent()) {
      there(container, there.get(), at);
    } else {
      rdma(adapter.pf().address(), at);
    }
    Optional<String> driver =
        there.flatMap(FunctionDriver::present).or(() -> FunctionDriver.ofVirtual(adapter.pf()));
    return step(
        container,
        address,
        Optional.of(new BindPciDevice.Function(adapter.pf().address(), index)),
        "virtual function " + index + " of '" + adapter.adapter().name() + "', " + address + ",",
        driver(address, isNetwork(adapter.pf()) ? driver : Optional.of(""), at));
  }

  /** Whether a device is a network controller: class 02. */
  static boolean isNetwork(PciDevice device) {
    return device.pciClass() >> 16 == 0x02;
  }

  private LendFunction step(
      Holder container,
      PciAddress address,
      Optional<BindPciDevice.Function> function,
      String what,
      String driver) {
    return new LendFunction(
        uri, container.guest(), container.deployment(), address, function, what, driver, claims);
  }

  private String driver(PciAddress address, Optional<String> driver, Position at) {
    if (driver.isEmpty()) {
      problems.add(
          at,
          "Graft does not know which driver of the host " + address + " needs",
          "bind it to its driver (echo " + address + " >/sys/bus/pci/drivers/DRIVER/bind)");
    }
    return driver.orElse("");
  }

  /** Checks a function that exists. */
  private void there(Holder container, PciDevice function, Position at) {
    PciAddress address = function.address();
    Optional<String> holder = facts.host().ledger().holder(address);
    boolean own = holder.equals(Optional.of(container.toString()));
    List<String> uses = facts.host().uses().getOrDefault(address, List.of());
    if (holder.isPresent() && !own) {
      problems.add(at, address + " belongs to " + holder.get(), "give the container another one");
    } else if (!own && !uses.isEmpty()) {
      problems.add(
          at,
          address + " is in use on the host: " + String.join(", ", uses),
          function.interfaces().stream()
              .findFirst()
              .map(card -> "stop what uses it: ip link set " + card.name() + " down")
              .orElse("stop what uses it first"));
    } else if (!own
        && FunctionDriver.present(function).isPresent()
        && function.interfaces().isEmpty()) {
      problems.add(
          at,
          address
              + " has no network interface here: another network namespace has it, or "
              + function.driver().orElseThrow()
              + " makes none",
          "look at ip netns and lsns -t net; binding the driver again makes it anew");
    }
    rdma(address, at);
    List<String> names = function.interfaces().stream().map(NetInterface::name).toList();
    if (!names.isEmpty()) {
      notes.add(address + " for a container: its network interface " + String.join(", ", names));
    }
  }

  /**
   * With {@code exclusive} an RDMA device would have to move into the container at each of its
   * starts, also those that libvirt makes.
   *
   * @param function the function, or the physical function of one that is to be made
   */
  private void rdma(PciAddress function, Position at) {
    if (facts.host().pci().rdmaOf(function).isEmpty()) {
      return;
    }
    if (facts.rdmaIsExclusive()) {
      problems.add(
          at,
          function
              + " has an RDMA device, which this kernel gives to one network namespace only (rdma"
              + " system: netns exclusive), and Graft moves none into containers",
          "rdma system set netns shared, while no other network namespace exists");
    } else {
      notes.add(
          function
              + " for a container: it can open only the RDMA device nodes that it gets, and sees"
              + " the names and addresses of the host's other RDMA devices (rdma system: netns"
              + " shared)");
    }
  }
}
