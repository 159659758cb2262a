package graft.hypervisors.libvirt.domain;

import org.w3c.dom.Element;

/**
 * Builds {@code <numatune>}.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#numa-node-tuning">libvirt</a>
 */
public final class NumaTuneElement {

  private NumaTuneElement() {}

  public static Element append(Element domain, NumaTune tune) {
    Element element = Xml.add(domain, "numatune");
    Element memory = Xml.add(element, "memory");
    memory.setAttribute("mode", tune.mode().xmlName());
    memory.setAttribute("nodeset", tune.nodes().toString());
    return element;
  }
}
