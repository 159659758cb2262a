package graft.hypervisors.libvirt.domain;

import java.util.function.Consumer;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

/** Prints what an element builder created. */
final class Built {

  private Built() {}

  /** The XML that the builder appended to its parent, without the parent. */
  static String by(Consumer<Element> builder) {
    Document document = Xml.newDocument("parent");
    builder.accept(document.getDocumentElement());
    StringBuilder text = new StringBuilder();
    for (var n = document.getDocumentElement().getFirstChild(); n != null; n = n.getNextSibling()) {
      text.append(Xml.print((Element) n));
    }
    return text.toString();
  }
}
