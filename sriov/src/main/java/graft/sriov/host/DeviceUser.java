package graft.sriov.host;

/**
 * A process that has a device open.
 *
 * @param pid the process's number on the host
 * @param command the process's name, of which the kernel keeps 15 characters
 * @param path the device file: {@code /dev/nvidia0}, {@code /dev/vfio/42}
 */
public record DeviceUser(int pid, String command, String path) {
  @Override
  public String toString() {
    return command + " (process " + pid + ", " + path + ")";
  }
}
