package graft.sriov.host;

/**
 * A process that has a device open.
 *
 * @param pid its number on the host
 * @param command its name, as far as the kernel keeps it (15 characters)
 * @param path the device file: {@code /dev/nvidia0}, {@code /dev/vfio/42}
 */
public record DeviceUser(int pid, String command, String path) {
  @Override
  public String toString() {
    return command + " (process " + pid + ", " + path + ")";
  }
}
