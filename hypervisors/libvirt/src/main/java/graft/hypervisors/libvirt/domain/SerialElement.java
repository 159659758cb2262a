package graft.hypervisors.libvirt.domain;

import org.w3c.dom.Element;

/**
 * Builds {@code <serial>} of type file.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#relevant-parts-of-consoles">libvirt</a>
 */
public final class SerialElement {

  private SerialElement() {}

  public static Element append(Element devices, SerialSpec spec) {
    Element serial = Xml.add(devices, "serial");
    serial.setAttribute("type", "file");
    Xml.add(serial, "source").setAttribute("path", spec.logFile());
    Xml.add(serial, "target").setAttribute("port", "0");
    return serial;
  }
}
