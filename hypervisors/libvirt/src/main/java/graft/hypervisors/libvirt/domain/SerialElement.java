package graft.hypervisors.libvirt.domain;

import java.util.Optional;
import org.w3c.dom.Element;

/**
 * Builds {@code <serial>}.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#relevant-parts-of-consoles">libvirt</a>
 */
public final class SerialElement {

  private SerialElement() {}

  /** A serial port that is a file: it takes no input. */
  public static Element append(Element devices, SerialSpec spec) {
    Element serial = Xml.add(devices, "serial");
    serial.setAttribute("type", "file");
    Xml.add(serial, "source").setAttribute("path", spec.logFile());
    Xml.add(serial, "target").setAttribute("port", "0");
    return serial;
  }

  /** Makes terminals of the domain's serial ports that are files. */
  public static void makeTerminals(Element domain) {
    for (Element devices : Xml.children(domain, "devices")) {
      for (Element serial : Xml.children(devices, "serial")) {
        Optional<String> file =
            Xml.find(serial, "source").flatMap(source -> Xml.attribute(source, "path"));
        if (serial.getAttribute("type").equals("file") && file.isPresent()) {
          Element terminal = appendTerminal(devices, new SerialSpec(file.get()));
          devices.replaceChild(devices.removeChild(terminal), serial);
        }
      }
    }
  }

  /**
   * A serial port that is a terminal of the host, so that it takes input, and whose output is kept
   * in the file too. Only QEMU's driver knows such files.
   */
  public static Element appendTerminal(Element devices, SerialSpec spec) {
    Element serial = Xml.add(devices, "serial");
    serial.setAttribute("type", "pty");
    Element log = Xml.add(serial, "log");
    log.setAttribute("file", spec.logFile());
    log.setAttribute("append", "off");
    Xml.add(serial, "target").setAttribute("port", "0");
    return serial;
  }
}
