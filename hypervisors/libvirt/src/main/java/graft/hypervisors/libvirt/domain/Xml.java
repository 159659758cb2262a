package graft.hypervisors.libvirt.domain;

import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;
import org.xml.sax.SAXParseException;
import org.xml.sax.helpers.DefaultHandler;

/** Helper methods for the DOM: parse without network access, look up, print. */
public final class Xml {

  /**
   * One builder per thread: creating a builder takes longer than creating a document, and builders
   * are not thread-safe.
   */
  private static final ThreadLocal<DocumentBuilder> BUILDERS =
      ThreadLocal.withInitial(Xml::makeBuilder);

  private Xml() {}

  /** An empty document with the given root element. */
  public static Document newDocument(String root) {
    Document document = builder().newDocument();
    document.appendChild(document.createElement(root));
    return document;
  }

  /**
   * Parses a document. Document types and external entities are rejected.
   *
   * @throws IllegalArgumentException if the text is not well-formed; the message names line and
   *     column
   */
  public static Document parse(String text) {
    try {
      return builder().parse(new InputSource(new StringReader(text)));
    } catch (SAXParseException e) {
      throw new IllegalArgumentException(
          "not well-formed XML at line "
              + e.getLineNumber()
              + ", column "
              + e.getColumnNumber()
              + ": "
              + e.getMessage(),
          e);
    } catch (SAXException | IOException e) {
      throw new IllegalArgumentException("not well-formed XML: " + e.getMessage(), e);
    }
  }

  /**
   * Prints the document with an indentation of two spaces per level, without an XML declaration.
   */
  public static String print(Document document) {
    return XmlPrinter.print(document.getDocumentElement());
  }

  /** Prints the element with an indentation of two spaces per level. */
  public static String print(Element element) {
    return XmlPrinter.print(element);
  }

  /** Appends a new child element and returns it. */
  public static Element add(Element parent, String name) {
    Element child = parent.getOwnerDocument().createElement(name);
    parent.appendChild(child);
    return child;
  }

  /** Appends a new child element with a text and returns it. */
  public static Element add(Element parent, String name, String text) {
    Element child = add(parent, name);
    child.setTextContent(text);
    return child;
  }

  /** The child elements of that name, in order. */
  public static List<Element> children(Element parent, String name) {
    List<Element> found = new ArrayList<>();
    for (Node n = parent.getFirstChild(); n != null; n = n.getNextSibling()) {
      if (n instanceof Element e && e.getTagName().equals(name)) {
        found.add(e);
      }
    }
    return found;
  }

  /** The first element on a path of names below {@code from}. */
  public static Optional<Element> find(Element from, String... path) {
    Element at = from;
    for (String name : path) {
      List<Element> below = children(at, name);
      if (below.isEmpty()) {
        return Optional.empty();
      }
      at = below.get(0);
    }
    return Optional.of(at);
  }

  /** The trimmed text of the first element on a path; empty if there is no such element. */
  public static Optional<String> text(Element from, String... path) {
    return find(from, path).map(e -> e.getTextContent().strip()).filter(s -> !s.isEmpty());
  }

  /** The value of an attribute; empty if the attribute is absent or empty. */
  public static Optional<String> attribute(Element element, String name) {
    return Optional.of(element.getAttribute(name)).filter(s -> !s.isEmpty());
  }

  private static DocumentBuilder builder() {
    return BUILDERS.get();
  }

  private static DocumentBuilder makeBuilder() {
    try {
      // The JDK's own parser is named here, which avoids a search of the class path at start-up.
      DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultInstance();
      factory.setNamespaceAware(true);
      factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
      factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
      DocumentBuilder builder = factory.newDocumentBuilder();
      // The default handler prints to stderr before it throws.
      builder.setErrorHandler(new DefaultHandler());
      return builder;
    } catch (ParserConfigurationException e) {
      throw new IllegalStateException("the JDK's XML parser refuses its own features", e);
    }
  }
}
