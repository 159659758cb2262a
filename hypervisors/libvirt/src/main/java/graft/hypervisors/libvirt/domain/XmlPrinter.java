package graft.hypervisors.libvirt.domain;

import org.w3c.dom.Attr;
import org.w3c.dom.Element;
import org.w3c.dom.NamedNodeMap;
import org.w3c.dom.Node;
import org.w3c.dom.Text;

/**
 * Prints a DOM tree. The JDK's transformer would load some 300 classes, and its layout of mixed
 * content differs between releases, which would break golden files.
 */
final class XmlPrinter {

  private final StringBuilder out = new StringBuilder();

  private XmlPrinter() {}

  static String print(Element element) {
    XmlPrinter printer = new XmlPrinter();
    printer.element(element, 0);
    return printer.out.toString();
  }

  private void element(Element element, int depth) {
    indent(depth);
    out.append('<').append(element.getTagName());
    NamedNodeMap attributes = element.getAttributes();
    for (int i = 0; i < attributes.getLength(); i++) {
      Attr attribute = (Attr) attributes.item(i);
      out.append(' ').append(attribute.getName()).append("='");
      escape(attribute.getValue(), true);
      out.append('\'');
    }
    if (!hasChildElements(element)) {
      String text = element.getTextContent();
      if (text.isEmpty()) {
        out.append("/>\n");
      } else {
        out.append('>');
        escape(text, false);
        out.append("</").append(element.getTagName()).append(">\n");
      }
      return;
    }
    out.append(">\n");
    for (Node n = element.getFirstChild(); n != null; n = n.getNextSibling()) {
      if (n instanceof Element child) {
        element(child, depth + 1);
      } else if (n instanceof Text text && !text.getData().isBlank()) {
        indent(depth + 1);
        escape(text.getData().strip(), false);
        out.append('\n');
      }
    }
    indent(depth);
    out.append("</").append(element.getTagName()).append(">\n");
  }

  private void indent(int depth) {
    out.append("  ".repeat(depth));
  }

  private void escape(String text, boolean attribute) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '&' -> out.append("&amp;");
        case '<' -> out.append("&lt;");
        case '>' -> out.append("&gt;");
        case '\'' -> out.append(attribute ? "&apos;" : "'");
        case '\r' -> out.append("&#13;");
        case '\n', '\t' -> {
          // In an attribute, a parser turns these characters into spaces unless they are written as
          // references.
          if (attribute) {
            out.append("&#").append((int) c).append(';');
          } else {
            out.append(c);
          }
        }
        default -> {
          if (c < ' ' || c == '\uFFFE' || c == '\uFFFF') {
            throw new IllegalArgumentException(
                String.format("XML cannot hold the character U+%04X", (int) c));
          }
          out.append(c);
        }
      }
    }
  }

  private static boolean hasChildElements(Element element) {
    for (Node n = element.getFirstChild(); n != null; n = n.getNextSibling()) {
      if (n instanceof Element) {
        return true;
      }
    }
    return false;
  }
}
