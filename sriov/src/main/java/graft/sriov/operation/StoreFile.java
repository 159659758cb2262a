package graft.sriov.operation;

import graft.common.values.PciAddress;
import graft.sriov.vf.HostAccess;
import java.util.Map;
import java.util.TreeMap;

/**
 * Writes a configuration file of Graft, such as the module options of mlx4.
 *
 * @param device the device that the file configures
 * @param path an absolute path on the host
 * @param content the whole content, which ends with a newline
 */
public record StoreFile(PciAddress device, String path, String content) implements DeviceChange {

  @Override
  public String describe() {
    return path + ": " + content.strip().replace("\n", "; ");
  }

  @Override
  public boolean isDone(HostAccess host) {
    return host.files().read(path).orElse("").equals(content.strip());
  }

  @Override
  public Map<String, Object> before(HostAccess host) {
    Map<String, String> values = new TreeMap<>(Map.of("path", path));
    host.files().read(path).ifPresent(text -> values.put("content", text + "\n"));
    return Saved.of(device, values);
  }

  @Override
  public Map<String, Object> apply(HostAccess host) {
    if (!isDone(host)) {
      host.files().store(path, content);
    }
    return Map.of();
  }

  @Override
  public void undo(HostAccess host, Map<String, Object> before) {
    Saved saved = new Saved(before);
    if (saved.value("content").isEmpty()) {
      if (host.files().exists(path)) {
        host.files().remove(path);
      }
    } else if (!host.files().read(path).equals(saved.value("content").map(String::strip))) {
      host.files().store(path, saved.value("content").get());
    }
  }

  @Override
  public String describeUndo(Map<String, Object> before) {
    return path + ": " + (before.containsKey("content") ? "the former content" : "remove");
  }
}
