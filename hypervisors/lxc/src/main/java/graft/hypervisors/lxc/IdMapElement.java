package graft.hypervisors.lxc;

import graft.hypervisors.libvirt.domain.Boot;
import graft.hypervisors.libvirt.domain.Xml;
import org.w3c.dom.Element;

/**
 * Builds {@code <idmap>}: the container's root is a user of the host without any rights there.
 *
 * @see <a href="https://libvirt.org/formatdomain.html#container-boot">libvirt</a>
 */
final class IdMapElement {
  private IdMapElement() {}

  static void append(Element domain, Boot.IdRange ids) {
    Element idmap = Xml.add(domain, "idmap");
    for (String kind : new String[] {"uid", "gid"}) {
      Element map = Xml.add(idmap, kind);
      map.setAttribute("start", "0");
      map.setAttribute("target", Long.toString(ids.first()));
      map.setAttribute("count", Long.toString(ids.count()));
    }
  }
}
