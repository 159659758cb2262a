package graft.hypervisors.kvm;

import graft.hypervisors.libvirt.domain.Xml;
import java.util.function.Function;
import org.w3c.dom.Element;

/** Prints the element that a builder created. */
final class Built {

  private Built() {}

  static String by(Function<Element, Element> builder) {
    return Xml.print(builder.apply(Xml.newDocument("parent").getDocumentElement()));
  }
}
