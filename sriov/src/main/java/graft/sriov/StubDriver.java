package graft.sriov;

import java.util.Optional;
import java.util.stream.Stream;

/** The kernel's drivers that keep a device for a guest, one for each hypervisor. */
public enum StubDriver {
  /** KVM's (Linux, Documentation/driver-api/vfio.rst). */
  VFIO("vfio-pci", "vfio-pci"),
  /** Xen's (Linux, drivers/xen/xen-pciback). */
  PCIBACK("pciback", "xen-pciback");

  private final String driver;
  private final String module;

  StubDriver(String driver, String module) {
    this.driver = driver;
    this.module = module;
  }

  /** Its name in sysfs. */
  public String driver() {
    return driver;
  }

  /** The module that it is in. */
  public String module() {
    return module;
  }

  /**
   * Whether the kernel keeps devices apart itself and shows by IOMMU groups how. Under Xen the
   * IOMMU is Xen's, and dom0's kernel sees none.
   */
  public boolean hasGroups() {
    return this == VFIO;
  }

  /** The module that a driver is in, for modprobe: mostly its own name. */
  public static String moduleOf(String driver) {
    return named(driver).map(StubDriver::module).orElse(driver);
  }

  /**
   * The one of that name in sysfs.
   *
   * @throws IllegalArgumentException when there is none
   */
  public static StubDriver of(String driver) {
    return named(driver)
        .orElseThrow(() -> new IllegalArgumentException("no stub driver " + driver));
  }

  private static Optional<StubDriver> named(String driver) {
    return Stream.of(values()).filter(stub -> stub.driver.equals(driver)).findFirst();
  }
}
