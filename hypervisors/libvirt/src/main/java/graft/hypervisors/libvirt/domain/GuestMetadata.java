package graft.hypervisors.libvirt.domain;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

/**
 * The element by which Graft marks its guests in a domain's metadata.
 *
 * @param deployment the descriptor's name
 * @param properties further values that Graft stores, such as a hash of the spec
 */
public record GuestMetadata(String deployment, SortedMap<String, String> properties) {

  /** XML namespace of the element. */
  public static final String NAMESPACE = "urn:graft:guest:1";

  /** Prefix under which libvirt stores the namespace. */
  public static final String PREFIX = "graft";

  private static final String ROOT = "guest";
  private static final String PROPERTY = "property";

  public GuestMetadata {
    Checks.name("deployment", deployment);
    properties = Collections.unmodifiableSortedMap(new TreeMap<>(properties));
  }

  public static GuestMetadata of(String deployment) {
    return new GuestMetadata(deployment, Collections.emptySortedMap());
  }

  public static GuestMetadata of(String deployment, Map<String, String> properties) {
    return new GuestMetadata(deployment, new TreeMap<>(properties));
  }

  /** Creates the element. {@code document} owns the element, which is not yet inserted. */
  public Element toElement(Document document) {
    Element root = document.createElementNS(NAMESPACE, PREFIX + ":" + ROOT);
    root.setAttributeNS("http://www.w3.org/2000/xmlns/", "xmlns:" + PREFIX, NAMESPACE);
    return fill(root, () -> document.createElementNS(NAMESPACE, PREFIX + ":" + PROPERTY));
  }

  /**
   * The element without a namespace, for virDomainSetMetadata: libvirt adds the namespace itself,
   * and stores nothing, without an error, if the element already has the prefix.
   */
  public String toPlainXml() {
    Document document = Xml.newDocument(ROOT);
    return Xml.print(fill(document.getDocumentElement(), () -> document.createElement(PROPERTY)));
  }

  private Element fill(Element root, Supplier<Element> newProperty) {
    root.setAttribute("deployment", deployment);
    properties.forEach(
        (name, value) -> {
          Element property = newProperty.get();
          property.setAttribute("name", name);
          property.setTextContent(value);
          root.appendChild(property);
        });
    return root;
  }

  /**
   * Parses the element. The prefix is ignored, because libvirt may omit it.
   *
   * @throws IllegalArgumentException for any other element
   */
  public static GuestMetadata fromElement(Element element) {
    if (!ROOT.equals(localName(element)) || element.getAttribute("deployment").isEmpty()) {
      throw new IllegalArgumentException(
          "metadata of namespace " + NAMESPACE + " is not ours: <" + element.getTagName() + ">");
    }
    SortedMap<String, String> properties = new TreeMap<>();
    for (var n = element.getFirstChild(); n != null; n = n.getNextSibling()) {
      if (n instanceof Element e && PROPERTY.equals(localName(e))) {
        properties.put(e.getAttribute("name"), e.getTextContent());
      }
    }
    return new GuestMetadata(element.getAttribute("deployment"), properties);
  }

  private static String localName(Element element) {
    String name = element.getTagName();
    return name.substring(name.indexOf(':') + 1);
  }
}
