package graft.hypervisors.libvirt.domain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

class XmlTest {

  @Test
  void printsTwoSpacesALevel() {
    Document document = Xml.newDocument("a");
    Element b = Xml.add(document.getDocumentElement(), "b");
    Xml.add(b, "c", "text").setAttribute("x", "1");
    assertThat(Xml.print(document))
        .isEqualTo(
            """
            <a>
              <b>
                <c x='1'>text</c>
              </b>
            </a>
            """);
  }

  @Test
  void whatItPrintsReadsBackAsItWas() {
    String awkward = "<&>'\" line\nbreak\ttab é 漢 \r";
    Document document = Xml.newDocument("a");
    document.getDocumentElement().setAttribute("x", awkward);
    Xml.add(document.getDocumentElement(), "b", awkward);
    Element read = Xml.parse(Xml.print(document)).getDocumentElement();
    assertThat(read.getAttribute("x")).isEqualTo(awkward);
    assertThat(Xml.find(read, "b").orElseThrow().getTextContent()).isEqualTo(awkward);
  }

  @Test
  void refusesWhatNoParserWouldTake() {
    Document document = Xml.newDocument("a");
    document.getDocumentElement().setAttribute("x", "\u0007");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Xml.print(document))
        .withMessageContaining("U+0007");
  }

  @Test
  void namesThePlaceOfAnError() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Xml.parse("<a>\n<b></a>"))
        .withMessageContaining("line 2, column");
  }

  @Test
  void refusesDocumentTypesAndWithThemExternalEntities() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> Xml.parse("<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a>&e;</a>"))
        .withMessageContaining("DOCTYPE");
  }

  @Test
  void findsAlongAPath() {
    Element root = Xml.parse("<a><b/><b><c> x </c></b></a>").getDocumentElement();
    assertThat(Xml.children(root, "b")).hasSize(2);
    assertThat(Xml.text(root, "b", "c")).as("the first b has no c").isEmpty();
    assertThat(Xml.text(Xml.children(root, "b").get(1), "c")).contains("x");
  }
}
