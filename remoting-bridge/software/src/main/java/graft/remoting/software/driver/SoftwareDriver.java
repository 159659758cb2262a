package graft.remoting.software.driver;

import graft.remoting.software.SoftwareDeviceConfig;

/** All groups of driver calls. */
public abstract class SoftwareDriver extends TextureFunctions {
  protected SoftwareDriver(SoftwareDeviceConfig config) {
    super(config);
  }
}
