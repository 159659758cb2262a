package graft.deployment;

import graft.deployment.step.guest.DefineGuest;
import graft.hypervisors.libvirt.domain.Xml;
import java.util.ArrayList;
import java.util.List;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

/**
 * The definition of a guest as planned, for somebody else to own: without what marks the domain as
 * Graft's, and without what reaches Graft's own servers, which {@code existing: {domain: NAME}}
 * brings back.
 *
 * @param guest the guest's name
 * @param xml the domain XML
 * @param leftOut what the definition lacks, in words
 */
public record ExportedDomain(String guest, String xml, List<String> leftOut) {
  /** Copies the list. */
  public ExportedDomain {
    leftOut = List.copyOf(leftOut);
  }

  /** The domain of a step's definition. */
  public static ExportedDomain of(DefineGuest planned) {
    Document document = Xml.parse(planned.xml());
    Element domain = document.getDocumentElement();
    remove(Xml.children(domain, "uuid"));
    remove(Xml.children(domain, "metadata"));
    List<String> leftOut = new ArrayList<>();
    for (Element devices : Xml.children(domain, "devices")) {
      List<Element> closed =
          Xml.children(devices, "interface").stream()
              .filter(card -> card.getAttribute("type").equals("client"))
              .toList();
      List<Element> shared = Xml.children(devices, "shmem");
      if (!closed.isEmpty()) {
        leftOut.add("its closed network card, which reaches Graft's server alone");
      }
      if (!shared.isEmpty()) {
        leftOut.add("the memory that it shares with Graft's server");
      }
      remove(closed);
      remove(shared);
    }
    return new ExportedDomain(planned.guest(), Xml.print(document), leftOut);
  }

  private static void remove(List<Element> elements) {
    for (Element element : elements) {
      element.getParentNode().removeChild(element);
    }
  }
}
