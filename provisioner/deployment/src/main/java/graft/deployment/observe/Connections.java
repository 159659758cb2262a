package graft.deployment.observe;

import graft.hypervisors.libvirt.LibvirtHost;
import java.util.LinkedHashMap;
import java.util.Map;

/** Connections to libvirt daemons, each opened once and kept until the command ends. */
public final class Connections implements AutoCloseable {
  private final Map<String, LibvirtHost> open = new LinkedHashMap<>();

  /**
   * The connection.
   *
   * @throws graft.hypervisors.libvirt.calls.HostUnreachableException if the daemon does not answer
   */
  public synchronized LibvirtHost get(String uri) {
    return open.computeIfAbsent(uri, LibvirtHost::open);
  }

  @Override
  public synchronized void close() {
    open.values().forEach(LibvirtHost::close);
    open.clear();
  }
}
