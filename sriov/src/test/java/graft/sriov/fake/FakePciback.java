package graft.sriov.fake;

import graft.common.values.PciAddress;
import graft.sriov.files.Errno;
import graft.sriov.files.PciPaths;
import graft.sriov.files.WriteFailedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/** Xen's pciback and its list of devices, as in drivers/xen/xen-pciback/pci_stub.c. */
final class FakePciback {
  static final String NAME = "pciback";

  private static final String SLOTS = PciPaths.driver(NAME, "slots");

  private FakePciback() {}

  static void load(Tree tree) {
    for (String file : List.of("new_slot", "remove_slot")) {
      tree.file(PciPaths.driver(NAME, file), "");
    }
    store(tree, List.of());
  }

  static boolean has(Tree tree, PciAddress device) {
    return slots(tree).contains(device.toString());
  }

  /** pcistub_probe: adds a device whose override names pciback to the list. */
  static void seize(Tree tree, PciAddress device) {
    if (!has(tree, device)) {
      add(tree, device);
    }
  }

  /**
   * new_slot_store, as before Linux 3.19: does not check whether the device is already in the list.
   */
  static void add(Tree tree, PciAddress device) {
    List<String> slots = slots(tree);
    slots.add(device.toString());
    store(tree, slots);
  }

  /** pcistub_device_id_remove: removes all entries of the device. */
  static void remove(Tree tree, String path, PciAddress device) {
    List<String> slots = slots(tree);
    if (!slots.removeIf(device.toString()::equals)) {
      throw new WriteFailedException(path, device.toString(), Errno.ENOENT);
    }
    store(tree, slots);
  }

  private static List<String> slots(Tree tree) {
    try {
      List<String> slots = new ArrayList<>(Files.readAllLines(tree.path(SLOTS)));
      slots.removeIf(String::isBlank);
      return slots;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void store(Tree tree, List<String> slots) {
    tree.file(SLOTS, String.join("\n", slots));
  }
}
