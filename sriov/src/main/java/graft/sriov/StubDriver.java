package graft.sriov;

import java.util.Optional;
import java.util.stream.Stream;

/** The stub drivers, which keep a device for a guest. Each hypervisor has one. */
public enum StubDriver {
  /** The stub driver of KVM (Linux, Documentation/driver-api/vfio.rst). */
  VFIO("vfio-pci", "vfio-pci"),
  /** The stub driver of Xen (Linux, drivers/xen/xen-pciback). */
  PCIBACK("pciback", "xen-pciback");

  private final String driver;
  private final String module;

  StubDriver(String driver, String module) {
    this.driver = driver;
    this.module = module;
  }

  /** The driver's name in sysfs. */
  public String driver() {
    return driver;
  }

  /** The name of the module that contains the driver. */
  public String module() {
    return module;
  }

  /**
   * Whether the kernel isolates devices itself and shows the isolation as IOMMU groups. Under Xen
   * the IOMMU belongs to Xen, and the kernel of dom0 sees none.
   */
  public boolean hasGroups() {
    return this == VFIO;
  }

  /** The name of the module that contains a driver, for modprobe; usually the driver's own name. */
  public static String moduleOf(String driver) {
    return named(driver).map(StubDriver::module).orElse(driver);
  }

  /**
   * The stub driver with that name in sysfs.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static StubDriver of(String driver) {
    return named(driver)
        .orElseThrow(() -> new IllegalArgumentException("no stub driver " + driver));
  }

  private static Optional<StubDriver> named(String driver) {
    return Stream.of(values()).filter(stub -> stub.driver.equals(driver)).findFirst();
  }
}
