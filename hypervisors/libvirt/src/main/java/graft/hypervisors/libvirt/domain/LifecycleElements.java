package graft.hypervisors.libvirt.domain;

import org.w3c.dom.Element;

/**
 * Builds {@code <on_poweroff>}, {@code <on_reboot>} and {@code <on_crash>}.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#events-configuration">libvirt</a>
 */
public final class LifecycleElements {

  private LifecycleElements() {}

  public static void append(Element domain, LifecycleAction onReboot) {
    Xml.add(domain, "on_poweroff", LifecycleAction.DESTROY.xmlName());
    Xml.add(domain, "on_reboot", onReboot.xmlName());
    Xml.add(domain, "on_crash", LifecycleAction.DESTROY.xmlName());
  }
}
