package graft.sriov.operation;

import graft.sriov.PciAddress;
import graft.sriov.vf.HostAccess;
import java.util.Map;
import java.util.TreeMap;

/**
 * Writes a configuration file that is Graft's own: the module options of mlx4, say.
 *
 * @param device whose configuration it is
 * @param path an absolute path on the host
 * @param content the whole content, which ends with a newline
 */
public record StoreFile(PciAddress device, String path, String content) implements Operation {

  @Override
  public String describe() {
    return path + ": " + content.strip().replace("\n", "; ");
  }

  @Override
  public boolean done(HostAccess host) {
    return host.files().read(path).orElse("").equals(content.strip());
  }

  @Override
  public Before before(HostAccess host) {
    Map<String, String> values = new TreeMap<>(Map.of("path", path));
    host.files().read(path).ifPresent(text -> values.put("content", text + "\n"));
    return new Before(getClass(), device, values);
  }

  @Override
  public void apply(HostAccess host) {
    if (!done(host)) {
      host.files().store(path, content);
    }
  }

  static void undo(HostAccess host, Before before) {
    String path = before.value("path").orElseThrow();
    if (before.value("content").isEmpty()) {
      if (host.files().exists(path)) {
        host.files().remove(path);
      }
    } else if (!host.files().read(path).equals(before.value("content").map(String::strip))) {
      host.files().store(path, before.value("content").get());
    }
  }
}
