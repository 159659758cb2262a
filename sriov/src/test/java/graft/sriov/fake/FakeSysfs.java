package graft.sriov.fake;

import graft.common.values.PciAddress;
import graft.sriov.files.Errno;
import graft.sriov.files.RootFolder;
import graft.sriov.files.WriteFailedException;
import graft.sriov.netlink.VfLinks;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.function.Consumer;

/**
 * A host in a folder that behaves as Linux 6.x does: writes to {@code bind}, {@code unbind}, {@code
 * new_id}, {@code drivers_probe}, {@code driver_override}, {@code sriov_numvfs}, {@code
 * sriov_drivers_autoprobe}, {@code reset_method} and the adapters' GUID files take effect, with the
 * errors that the kernel gives (drivers/pci/iov.c, drivers/pci/pci-driver.c, drivers/base/bus.c).
 *
 * <p>Each write is complete before the next one begins, even if several threads write; a reader may
 * see intermediate states, as on a real host.
 */
public final class FakeSysfs extends ForwardingFiles {
  private final Path root;
  private final FakeKernel kernel;
  private final Faults faults = new Faults();
  private final List<String> log = new ArrayList<>();
  private final List<Runnable> late = new ArrayList<>();

  /**
   * Creates an empty host.
   *
   * @param root an empty folder
   */
  public FakeSysfs(Path root) {
    super(new RootFolder(root));
    this.root = root;
    this.kernel = new FakeKernel(new Tree(root));
  }

  /** Adds a device and loads the device's driver if necessary. */
  public FakeSysfs add(FakeDevice device) {
    kernel.add(device);
    return this;
  }

  /** Loads a driver that only binds devices whose override names it: vfio-pci. */
  public FakeSysfs loadDriver(String driver) {
    kernel.loadDriver(driver);
    return this;
  }

  /** Loads mlx4_core again, with the options in the host's modprobe configuration. */
  public FakeSysfs reloadMlx4() {
    kernel.reloadMlx4();
    return this;
  }

  /** Adds a NUMA node with huge pages of 2 MiB and 1 GiB, none allocated. */
  public FakeSysfs node(int number, String cpus, long mib) {
    FakeMemory.add(kernel.tree, number, cpus, mib);
    return this;
  }

  /** Starts a process that has the files open. */
  public FakeSysfs process(int pid, String command, String... open) {
    kernel.process(pid, command, open);
    return this;
  }

  public void kill(int pid) {
    kernel.tree.delete("/proc/" + pid);
  }

  /** Adds any other file of the host. */
  public FakeSysfs file(String path, String content) {
    kernel.tree.file(path, content);
    return this;
  }

  /** Adds a link between two paths of the host. */
  public FakeSysfs link(String path, String target) {
    kernel.tree.link(path, target);
    return this;
  }

  public FakeSysfs deleteFile(String path) {
    kernel.tree.delete(path);
    return this;
  }

  /** The errors and delays that tests inject. */
  public Faults faults() {
    return faults;
  }

  /**
   * Netlink on this host's interfaces; {@link Faults} counts its changes, and makes them fail, as
   * for writes.
   */
  public VfLinks links() {
    return new FakeLinks(kernel, this);
  }

  /** The writes since the start or the last call, as {@code PATH = VALUE}. */
  public List<String> takeLog() {
    List<String> taken = List.copyOf(log);
    log.clear();
    return taken;
  }

  /** Makes the writes that hung take effect now. */
  public void settle() {
    List<Runnable> pending = List.copyOf(late);
    late.clear();
    pending.forEach(Runnable::run);
  }

  /**
   * The whole state: every file and link, and the settings that the adapters keep for their VFs.
   */
  public SortedMap<String, String> state() {
    SortedMap<String, String> state = kernel.tree.dump();
    kernel.addVfSettings(state);
    return state;
  }

  public Path root() {
    return root;
  }

  @Override
  public void write(String path, String value, Duration limit) {
    if (!Files.exists(kernel.tree.path(path))) {
      throw new WriteFailedException(path, value, Errno.ENOENT);
    }
    change(path, value, limit, target -> kernel.write(target, value));
  }

  @Override
  public void store(String path, String content) {
    change(path, content, Duration.ofDays(2), target -> super.store(target, content));
  }

  @Override
  public void storeLink(String path, String target) {
    change(path, "-> " + target, Duration.ofDays(2), at -> super.storeLink(at, target));
  }

  @Override
  public void remove(String path) {
    change(path, "", Duration.ofDays(2), super::remove);
  }

  synchronized void change(String path, String value, Duration limit, Consumer<String> effect) {
    log.add(path + " = " + value);
    faults.change(path, value, limit, late, () -> effect.accept(path));
  }

  /** The device with that address, for tests that inspect more than the files. */
  public FakeDevice device(String address) {
    return kernel.device(PciAddress.parse(address));
  }
}
