package graft.hypervisors.libvirt.domain;

/**
 * The guest's first serial port, written to a file of the host.
 *
 * @param logFile the file's path on the host that runs libvirt
 */
public record SerialSpec(String logFile) {
  public SerialSpec {
    Checks.absolutePath("console log", logFile);
  }
}
