package graft.deployment.fabric;

import graft.common.GraftException;
import graft.common.values.Name;
import graft.common.values.PciAddress;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.fabric.Adapter;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.GuestVf;
import graft.deployment.descriptor.guest.Passthrough;
import graft.deployment.journal.Entry;
import graft.deployment.journal.JournalState;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.device.AssignsDevice;
import graft.deployment.step.device.AttachDevice;
import graft.deployment.step.device.BindPciDevice;
import graft.deployment.step.device.MakeFunctions;
import graft.deployment.step.machine.AttachToDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A device as a command names it: a PCI address, the UUID of a mediated device, or an adapter of
 * the descriptor with or without the number of one of its virtual functions.
 *
 * @param adapter the adapter's name; null for the other kinds
 * @param index the function's number; empty for any
 * @param pci the address; null for the other kinds
 * @param mediated the UUID; null for the other kinds
 */
public record DeviceArgument(
    Name adapter, Optional<Integer> index, PciAddress pci, String mediated) {
  private static final Pattern FUNCTION = Pattern.compile("([a-z][a-z0-9-]*)(?::([0-9]{1,4}))?");
  private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

  /**
   * Reads a text.
   *
   * @throws GraftException if it is none of the forms
   */
  public static DeviceArgument parse(String text) {
    Optional<PciAddress> address = PciAddress.tryParse(text);
    if (address.isPresent()) {
      return new DeviceArgument(null, Optional.empty(), address.get(), null);
    }
    if (UUID.matcher(text).matches()) {
      return new DeviceArgument(null, Optional.empty(), null, text);
    }
    Matcher function = FUNCTION.matcher(text);
    if (function.matches()) {
      Optional<Integer> index = Optional.ofNullable(function.group(2)).map(Integer::valueOf);
      return new DeviceArgument(new Name(function.group(1)), index, null, null);
    }
    throw new GraftException(
        "'" + text + "' is not a device",
        "name a PCI address (0000:65:00.0), a virtual function (ib0:2, or ib0 for any that is"
            + " free), or the UUID of a mediated device");
  }

  /** Whether it stands for any free function of its adapter. */
  public boolean isAny() {
    return adapter != null && index.isEmpty();
  }

  /** Whether the guest's entry in the descriptor names it already. */
  public boolean isIn(Guest guest) {
    return adapter != null
        ? !isAny() && guest.vfs().contains(new GuestVf(adapter, index))
        : guest.passthrough().stream()
            .anyMatch(
                device ->
                    pci != null
                        ? device.pci().equals(Optional.of(pci))
                        : device.mdev().equals(Optional.of(mediated)));
  }

  /** The guest with this device added; unchanged if it has the device already. */
  public Guest addTo(Guest guest) {
    if (isIn(guest)) {
      return guest;
    }
    List<Passthrough> passthrough = new ArrayList<>(guest.passthrough());
    List<GuestVf> vfs = new ArrayList<>(guest.vfs());
    if (adapter != null) {
      vfs.add(new GuestVf(adapter, index));
    } else {
      Optional<PciAddress> address = Optional.ofNullable(pci);
      Optional<String> uuid = Optional.ofNullable(mediated);
      passthrough.add(
          new Passthrough(
              Optional.empty(),
              address,
              Optional.empty(),
              uuid,
              Optional.empty(),
              Optional.empty(),
              false));
    }
    return guest.withDevices(passthrough, vfs);
  }

  /**
   * Refuses a function of an adapter without functions.
   *
   * @throws GraftException if the descriptor has no such adapter, or has not been applied with it
   */
  public void requireFunctions(DescriptorFile file, JournalState journal) {
    if (adapter == null) {
      return;
    }
    List<Adapter> all =
        file.descriptor().fabric().map(fabric -> fabric.adapters()).orElse(List.of());
    Optional<Adapter> named = all.stream().filter(one -> one.name().equals(adapter)).findFirst();
    if (named.isEmpty()) {
      List<String> names = all.stream().map(one -> one.name().text()).toList();
      throw new GraftException(
          file.path() + " has no adapter '" + adapter + "'",
          names.isEmpty() ? "it has none; name a PCI address" : "it has " + names);
    }
    if (named.get().count() == 0) {
      throw new GraftException(
          "the adapter '" + adapter + "' has no virtual functions in " + file.path(),
          "write their number there (vfs), then run graft apply");
    }
    if (physicalFunction(journal).isEmpty()) {
      throw new GraftException(
          "the virtual functions of the adapter '" + adapter + "' have not been made yet",
          "graft apply " + file.path() + " makes them");
    }
  }

  /** The entry that keeps the device in the guest when it is added to the descriptor. */
  public String inDescriptor() {
    if (adapter != null) {
      return "vfs: [{adapter: " + adapter + index.map(i -> ", index: " + i).orElse("") + "}]";
    }
    return "passthrough: [{" + (pci != null ? "pci: \"" + pci + "\"" : "mdev: " + mediated) + "}]";
  }

  /** The steps that assigned it to a guest, last first. */
  public List<Step> stepsOf(String guest, JournalState journal) {
    return stepsOf(guest, journal.newestFirst(), journal);
  }

  /**
   * Those of the steps that assign it to a guest, in their order. For a GPU they are the steps of
   * all functions of its slot, for an adapter those of all its functions.
   *
   * @param journal tells which device the adapter is
   */
  public List<Step> stepsOf(String guest, List<Step> steps, JournalState journal) {
    List<Step> ofGuest =
        steps.stream().filter(step -> step.chain().equals(Chain.guest(guest))).toList();
    Set<String> devices = new TreeSet<>();
    for (Step step : ofGuest) {
      if (step instanceof AssignsDevice assigns && isAssignedBy(assigns, journal)) {
        devices.add(assigns.assigned());
      }
    }
    return ofGuest.stream()
        .filter(step -> deviceOf(step).filter(devices::contains).isPresent())
        .toList();
  }

  /** The device that a step assigns to a guest or attaches to it. */
  private static Optional<String> deviceOf(Step step) {
    if (step instanceof AssignsDevice assigns) {
      return Optional.of(assigns.assigned());
    }
    if (step instanceof AttachToDomain attach) {
      return Optional.of(attach.device());
    }
    return step instanceof AttachDevice attach ? Optional.of(attach.device()) : Optional.empty();
  }

  private boolean isAssignedBy(AssignsDevice step, JournalState journal) {
    if (mediated != null) {
      return step.assigned().equals(mediated);
    }
    if (pci != null) {
      boolean wholeSlot =
          step instanceof BindPciDevice take
              && take.function().isEmpty()
              && take.device().sameSlot(pci);
      return step.assigned().equals(pci.toString()) || wholeSlot;
    }
    return step.function()
        .filter(function -> index.map(i -> i == function.index()).orElse(true))
        .filter(function -> function.pf().equals(physicalFunction(journal).orElse(null)))
        .isPresent();
  }

  private Optional<PciAddress> physicalFunction(JournalState journal) {
    return journal
        .entry("adapter/" + adapter + "/vfs")
        .map(Entry::step)
        .filter(MakeFunctions.class::isInstance)
        .map(step -> ((MakeFunctions) step).pf());
  }
}
