package graft.cli.ui;

import graft.cli.terminal.Version;
import graft.common.program.CurrentUser;
import graft.deployment.observe.HostFacts;
import graft.deployment.observe.HostObserver;
import graft.sriov.files.RootFolder;
import graft.sriov.host.HostPci;
import graft.sriov.host.NvidiaGpu;
import graft.sriov.host.PciDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** This host: its name, its memory, its GPUs, and what the page's user may not see. */
final class HostView {
  private static final Path OF_ROOT = Path.of("/var/lib/graft");

  /** The PCI devices are read once in so many looks: that reads all processes of the host. */
  private static final int DEVICES_EVERY = 12;

  private List<Map<String, Object>> devices = List.of();
  private int looks;

  /** Looks at the host. */
  Map<String, Object> tree() {
    HostFacts facts = HostObserver.observe();
    if (looks++ % DEVICES_EVERY == 0) {
      devices = devices(HostPci.read(RootFolder.thisHost()));
    }
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("name", name());
    tree.put("graft", Version.text());
    tree.put("user", System.getProperty("user.name"));
    tree.put("stateFolder", CurrentUser.stateFolder(System.getenv()).toString());
    tree.put("cpus", facts.cpus());
    tree.put("memoryBytes", facts.memory() == 0 ? null : facts.memory());
    tree.put("availableMemoryBytes", facts.memory() == 0 ? null : facts.availableMemory());
    tree.put("nvidiaDriver", facts.nvidiaDriver().isEmpty() ? null : facts.nvidiaDriver());
    tree.put("devices", devices);
    tree.put(
        "notes",
        notes(
            CurrentUser.stateFolder(System.getenv()),
            CurrentUser.isRoot(),
            Files.isDirectory(OF_ROOT)));
    return tree;
  }

  /**
   * What this user does not see.
   *
   * @param folder the user's state folder
   * @param others whether root has a state folder
   */
  static List<String> notes(Path folder, boolean root, boolean others) {
    List<String> notes = new ArrayList<>();
    if (others && !folder.equals(OF_ROOT)) {
      notes.add(
          "The deployments in "
              + OF_ROOT
              + " are not shown, only those in "
              + folder
              + (root ? ", which GRAFT_STATE_DIR names." : ". Root sees them: sudo graft ui."));
    }
    if (!root) {
      notes.add(
          "This page is served by an ordinary user: it shows no servers and no guests of root and"
              + " of other users.");
    }
    return notes;
  }

  static List<Map<String, Object>> devices(HostPci pci) {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (PciDevice device : pci.devices().values()) {
      if (device.isNvidiaGpu()) {
        Optional<NvidiaGpu> known =
            pci.gpus().stream().filter(gpu -> gpu.address().equals(device.address())).findFirst();
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("address", device.address().toString());
        row.put("model", known.map(NvidiaGpu::model).orElse(null));
        row.put("uuid", known.map(NvidiaGpu::uuid).orElse(null));
        row.put("driver", device.driver().orElse(null));
        row.put("iommuGroup", device.iommuGroup().map(Object::toString).orElse(null));
        rows.add(row);
      }
    }
    return rows;
  }

  /** The host's name; DNS is not asked. */
  private static String name() {
    try {
      return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    } catch (IOException e) {
      return null;
    }
  }
}
